import EntitySchema
import SchemaDraft

extension ListPlan {
    /// Where the schema has the length of the list.
    var totalPlace: String? { total?.description ?? totalHeader.map { "{ header: \($0) }" } }

    /// What says that there is another page.
    var nextPlace: String {
        if let more { return more.description }
        switch style {
        case .page(_, let pages?): return pages.description
        case .page, .offset, .lastRecord: return totalPlace ?? "the page is full"
        case .cursor(_, let next), .nextURL(let next): return next.description
        case .link: return "Link"
        case .header(let name, _), .headerURL(let name): return name
        case .single: return ""
        }
    }
}

extension ListPlan.Style {
    /// As a schema names it.
    var word: String {
        switch self {
        case .page: "page"
        case .offset: "offset"
        case .cursor, .lastRecord: "cursor"
        case .link: "link"
        case .header, .headerURL: "header"
        case .nextURL: "next_url"
        case .single: "single"
        }
    }

    /// How to follow a next page at this place of the answer.
    static func advice(on place: String) -> String {
        let name = Words.folded(place)
        if place.hasPrefix("Link") { return "set pagination: { style: link }" }
        if place.contains("-") { return "set pagination: { style: header, header: \(place), page: NAME }" }
        if name.hasSuffix("more") || name.contains("hasnext") { return "set pagination.more: \(place)" }
        let last = place.split(separator: ".").last.map(String.init) ?? place
        if ["after", "offset"].contains(last) {
            return "set pagination: { style: cursor, cursor: \(last), next: \(place) }"
        }
        if name.contains("cursor") || name.contains("token") {
            return "set pagination: { style: cursor, cursor: NAME, next: \(place) }"
        }
        return
            "set pagination: { style: next_url, next: \(YAMLText.scalar(place)) } if that is an address, else style: cursor"
    }
}

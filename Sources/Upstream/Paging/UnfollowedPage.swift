internal import EntitySchema
internal import JSONText

/// Notices that a response names a next page in a way that the schema does not follow: the list would be cut there
/// without a word.
enum UnfollowedPage {
    /// Members that name the next page, or say that there is one, in the ways that are common.
    private static let places = [
        "next", "next_page", "nextPage", "next_cursor", "nextCursor", "next_page_token", "nextPageToken", "next_url",
        "nextUrl", "next_page_url", "has_more", "hasMore", "links.next", "_links.next", "meta.next_cursor",
        "meta.next_page",
        "meta.has_more", "meta.pagination.links.next", "paging.next", "pagination.next", "pagination.has_more",
    ]

    /// Where the last page of a list names another one; nil if it does not. `envelope` is the body without the records.
    static func found(in response: HTTPResponse, _ envelope: JSONText, of list: ListPlan) -> String? {
        if case .link = list.style {} else if hasNextLink(response) { return "Link: rel=next" }
        for place in places where names(envelope.at(path: place)) { return place }
        return nil
    }

    private static func hasNextLink(_ response: HTTPResponse) -> Bool {
        let fields = response.headers.filter { HTTPSyntax.isSameName($0.name, "Link") }.map(\.value)
        guard !fields.isEmpty, let links = try? LinkHeader(fields) else { return false }
        return links.target(of: "next") != nil
    }

    private static func names(_ value: JSONText?) -> Bool {
        guard let value else { return false }
        switch value.kind {
        case .string: return value.string?.isEmpty == false
        case .number: return value.text != "0"
        // A link object, as in HAL.
        case .object: return names(value["href"])
        default: return value.boolean == true
        }
    }
}

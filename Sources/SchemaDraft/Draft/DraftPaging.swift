/// How a list is paged, in the words of the schema language.
struct DraftPaging: Sendable, Equatable {
    enum Style: Sendable, Equatable {
        case single
        case page(parameter: String, pages: String?, first: Int?)
        case offset(parameter: String, first: Int?)
        case cursor(parameter: String, next: String)
        /// The next page is asked for by a value of the last record.
        case lastRecord(parameter: String, place: String)
        case link
        case nextURL(String)

        var word: String {
            switch self {
            case .single: "single"
            case .page: "page"
            case .offset: "offset"
            case .cursor, .lastRecord: "cursor"
            case .link: "link"
            case .nextURL: "next_url"
            }
        }
    }

    /// The parameter of a numbered page.
    var parameter: String? { if case .page(let name, _, _) = style { name } else { nil } }

    /// The parameters that each request of a list has.
    var sent: [String] {
        let place: String? =
            switch style {
            case .page(let name, _, _), .offset(let name, _): name
            default: nil
            }
        return [place, style == .single ? nil : size].compactMap(\.self)
    }

    /// Whether only its length says that a page is the last one.
    var endsByLength: Bool {
        switch style {
        case .page(_, let pages, _): pages == nil && total == nil && totalHeader == nil && more == nil
        case .offset: total == nil && totalHeader == nil && more == nil
        case .lastRecord: more == nil
        case .single, .cursor, .link, .nextURL: false
        }
    }

    var style = Style.single
    /// The parameter for the number of records; nil if there is none.
    var size: String?
    var pageSize: Int?
    var total: String?
    /// The header that has it instead.
    var totalHeader: String?
    var more: String?
    var moreIs = true
}

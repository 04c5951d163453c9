internal import SocketServer

/// The format of a list of records, by `Accept`.
enum ListFormat: Equatable {
    /// One page, with its cursor.
    case page
    /// The whole list, one record on each line. Its media type is the one of several that the caller named.
    case lines(String)
    /// The whole list as CSV.
    case csv

    /// What the API offers, in its own order of preference.
    static let types = [PatchFormat.json, "application/x-ndjson", "application/jsonl", "text/csv"]

    /// A caller who accepts none of them gets a page.
    init(_ request: Request) {
        let type = AcceptedType.best(of: Self.types, for: request)
        switch type {
        case PatchFormat.json: self = .page
        case "text/csv": self = .csv
        default: self = .lines(type)
        }
    }

    /// Whether it has the whole list, and not one page.
    var isWhole: Bool { self != .page }

    /// The parameters that it has no place for.
    var excluded: [String] {
        switch self {
        case .page: []
        case .lines: ["count"]
        case .csv: ["count", "include", "labels"]
        }
    }

    var mediaType: String {
        switch self {
        case .page: PatchFormat.json
        case .lines(let type): type
        case .csv: "text/csv"
        }
    }

    /// For `Content-Type`.
    var contentType: String { self == .csv ? "\(mediaType); charset=utf-8" : mediaType }
}

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
        // What most clients send.
        guard !request.headers[all: "Accept"].allSatisfy({ $0 == "*/*" || $0 == PatchFormat.json }) else {
            self = .page
            return
        }
        let wanted = WeightedItem.all(of: "Accept", in: request)
        guard wanted.contains(where: { Self.types.dropFirst().contains($0.name) && $0.weight > 0 }) else {
            self = .page
            return
        }
        var best = (type: PatchFormat.json, rank: (0, 0))
        for type in Self.types {
            let rank = Self.rank(of: type, among: wanted)
            if rank > best.rank { best = (type, rank) }
        }
        switch best.type {
        case PatchFormat.json: self = .page
        case "text/csv": self = .csv
        default: self = .lines(best.type)
        }
    }

    /// The weight of the most specific range that has the type, and how specific that is (RFC 9110, 12.5.1).
    private static func rank(of type: String, among wanted: [WeightedItem]) -> (weight: Int, precision: Int) {
        let ranges = [type, type.prefix { $0 != "/" } + "/*", "*/*"]
        for (index, range) in ranges.enumerated() {
            guard let item = wanted.first(where: { $0.name == range }) else { continue }
            return item.weight > 0 ? (item.weight, ranges.count - index) : (0, 0)
        }
        return (0, 0)
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

    /// For `Content-Type`.
    var contentType: String {
        switch self {
        case .page: PatchFormat.json
        case .lines(let type): type
        case .csv: "text/csv; charset=utf-8"
        }
    }
}

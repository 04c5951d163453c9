internal import SocketServer

/// Chooses the media type of an answer by `Accept` (RFC 9110, 12.5.1).
enum AcceptedType {
    /// The one of `types` that the caller prefers; the first, unless the caller names another and prefers it.
    static func best(of types: [String], for request: Request) -> String {
        // What most clients send.
        guard !request.headers[all: "Accept"].allSatisfy({ $0 == "*/*" || $0 == types[0] }) else { return types[0] }
        let wanted = WeightedItem.all(of: "Accept", in: request)
        guard wanted.contains(where: { types.dropFirst().contains($0.name) && $0.weight > 0 }) else { return types[0] }
        var best = (type: types[0], rank: (0, 0))
        for type in types {
            let rank = rank(of: type, among: wanted)
            if rank > best.rank { best = (type, rank) }
        }
        return best.type
    }

    /// The weight of the most specific range that has the type, and how specific that is.
    private static func rank(of type: String, among wanted: [WeightedItem]) -> (weight: Int, precision: Int) {
        let ranges = [type, type.prefix { $0 != "/" } + "/*", "*/*"]
        for (index, range) in ranges.enumerated() {
            guard let item = wanted.first(where: { $0.name == range }) else { continue }
            return item.weight > 0 ? (item.weight, ranges.count - index) : (0, 0)
        }
        return (0, 0)
    }
}

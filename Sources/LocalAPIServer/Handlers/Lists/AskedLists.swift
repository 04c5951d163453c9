internal import CacheStore
internal import Synchronization

/// What the queries of lists mean, by their texts: most callers ask for the same lists again and again, and to read a query takes as
/// long as to read some of its records.
final class AskedLists: Sendable {
    typealias Asked = (query: ListQuery, include: [Inclusion])

    private struct Key: Hashable {
        var entity: String
        var text: String
    }

    /// All are forgotten when there would be more.
    private static let most = 64
    /// In bytes.
    private static let longest = 1024

    private let known = Mutex<[Key: Asked]>([:])

    /// What a text means, which `read` finds out unless it was asked for lately.
    func list(of entity: String, _ text: String, _ read: () throws -> Asked) rethrows -> Asked {
        let key = Key(entity: entity, text: text)
        if let asked = known.withLock({ $0[key] }) { return asked }
        let asked = try read()
        // Nearly all cursors are sent once.
        guard text.utf8.count <= Self.longest, asked.query.cursor == nil else { return asked }
        known.withLock { known in
            if known.count >= Self.most { known.removeAll(keepingCapacity: true) }
            known[key] = asked
        }
        return asked
    }
}

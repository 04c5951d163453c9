internal import CacheStore
internal import Synchronization

/// The lists of the last queries, by their texts: most callers ask for the same lists again and again, and to read a query takes
/// as long as to read some of its records.
final class AskedLists: Sendable {
    private struct Key: Hashable {
        var entity: String
        var text: String
    }

    /// All are forgotten when there would be more.
    private static let most = 64
    /// In bytes.
    private static let longest = 1024

    private let known = Mutex<[Key: PreparedList]>([:])

    /// The list of a query. Pages of one list share what `read` makes of its text without the cursor.
    func list(
        of entity: String, _ text: String, _ read: (_ query: String) throws -> PreparedList
    ) throws -> PreparedList {
        guard let (rest, cursor) = Self.parts(of: text) else { return try list(Key(entity: entity, text: text), read) }
        let list = try list(Key(entity: entity, text: rest), read)
        // With two cursors the whole text says what is wrong.
        return try list.query.cursor == nil ? list.from(cursor) : read(text)
    }

    private func list(_ key: Key, _ read: (_ query: String) throws -> PreparedList) throws -> PreparedList {
        if let list = known.withLock({ $0[key] }) { return list }
        let list = try read(key.text)
        // Nearly all cursors are sent once.
        guard key.text.utf8.count <= Self.longest, list.query.cursor == nil else { return list }
        known.withLock { known in
            if known.count >= Self.most { known.removeAll(keepingCapacity: true) }
            known[key] = list
        }
        return list
    }

    /// A query's text without its cursor, and the cursor; nil unless it ends with one, as `NextLink` writes it.
    private static func parts(of text: String) -> (rest: String, cursor: String)? {
        var text = text
        // Through a pointer, because iterating over a `String` takes several times as long.
        return text.withUTF8 { text in
            let end = text.lastIndex(of: UInt8(ascii: "&"))
            let last = text[(end.map { $0 + 1 } ?? 0)...]
            let cursor = last.dropFirst(name.utf8.count)
            guard last.starts(with: name.utf8), !cursor.isEmpty, cursor.allSatisfy(NextLink.isPlain) else { return nil }
            return (String(decoding: text[..<(end ?? 0)], as: UTF8.self), String(decoding: cursor, as: UTF8.self))
        }
    }

    private static let name = "cursor="
}

internal import SQLiteStore
internal import Synchronization

/// The source of a database's records, apart from the account: fixed when the file is first used.
package struct CacheOrigin: Sendable, Hashable, CustomStringConvertible {
    package var schema: String
    /// The upstream's address; nil while it is not known.
    package var upstream: String?

    package init(schema: String, upstream: String?) {
        self.schema = schema
        self.upstream = upstream.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    }

    package var description: String {
        "the schema \(schema) with \(upstream.map { "the upstream \($0)" } ?? "no upstream")"
    }

    /// Whether a database from `other` may be used; while the address is unknown, any database of the same schema may.
    package func includes(_ other: CacheOrigin) -> Bool {
        schema == other.schema && (upstream == nil || upstream == other.upstream)
    }

    /// The origin recorded in the closed database at `path`; nil if it has none or cannot be read.
    package init?(ofDatabaseAt path: String, patience: Duration = .seconds(5)) {
        guard let connection = try? ReadConnection(path: path, patience: patience),
            let origin = try? CacheOrigin(read: connection)
        else { return nil }
        self = origin
    }

    /// Nil if the database has none.
    init?(read connection: ReadConnection) throws {
        var settings: [String: String] = [:]
        let sql = "SELECT name, value FROM sync_setting WHERE name IN ('schema', 'upstream')"
        try connection.query(sql, []) { row in
            let row = BoundStatement(row)
            if let name = row.text(0) { settings[name] = row.text(1) }
            return true
        }
        guard let schema = settings["schema"], let upstream = settings["upstream"] else { return nil }
        self.init(schema: schema, upstream: upstream)
    }
}

/// Reads the origins of several closed databases. It waits for those that other programs have locked together as long as for one:
/// any number can be locked.
package final class CacheOrigins: Sendable {
    private let left: Mutex<Duration>

    package init(patience: Duration = .seconds(5)) { left = Mutex(patience) }

    /// How long it still waits.
    package var patience: Duration { left.withLock(\.self) }

    /// See `CacheOrigin.init(ofDatabaseAt:)`.
    package func origin(of path: String) -> CacheOrigin? {
        let start = ContinuousClock.now
        if let found = CacheOrigin(ofDatabaseAt: path, patience: patience) { return found }
        left.withLock { $0 = max(.zero, $0 - start.duration(to: .now)) }
        return nil
    }
}

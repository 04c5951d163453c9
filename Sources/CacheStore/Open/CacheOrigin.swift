internal import GRDB

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
    package init?(ofDatabaseAt path: String) {
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        let rows = try? DatabaseQueue(path: path, configuration: configuration).read { db in
            try Row.fetchAll(db, sql: "SELECT name, value FROM sync_setting WHERE name IN ('schema', 'upstream')")
        }
        let settings = Dictionary((rows ?? []).map { ($0[0] as String, $0[1] as String) }) { first, _ in first }
        guard let schema = settings["schema"], let upstream = settings["upstream"] else { return nil }
        self.init(schema: schema, upstream: upstream)
    }
}

package import EntitySchema
internal import GRDB
internal import JSONText

/// The effect of a queued change on its record's content.
package enum ContentChange: Sendable, Equatable {
    case upload(Content)
    case removal

    /// As the queue stores it.
    var column: String {
        switch self {
        case .upload(let content): content.sha256
        case .removal: ContentTable.nothing
        }
    }
}

/// The content files stored here, inside the caller's transaction.
struct ContentTable {
    let db: Database

    /// How the queue marks a removal.
    static let nothing = ""

    /// Records that the file of a content is stored here and was used now.
    func insert(_ content: Content, at now: Timestamp) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO sync_content (sha256, size, type, used_at) VALUES (?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET used_at = excluded.used_at
                """
        ).execute(arguments: [content.sha256, content.size, content.type, now.milliseconds])
    }

    /// Counts records that begin or cease to use a content.
    func countRecords(_ sha256: String?, _ change: Int) throws {
        guard let sha256 else { return }
        try db.cachedStatement(sql: "UPDATE sync_content SET uses = uses + ? WHERE sha256 = ?")
            .execute(arguments: [change, sha256])
    }

    /// Makes the records of one entity forget a content.
    func drop(_ sha256: String, in table: EntityTable) throws {
        try db.cachedStatement(sql: "UPDATE \(table.name) SET _content = NULL WHERE _content = ?")
            .execute(arguments: [sha256])
        try countRecords(sha256, -db.changesCount)
    }

    /// The hash of the copy that a record has of the server's content.
    func kept(_ key: String, _ table: EntityTable) throws -> String? {
        guard table.entity.content != nil else { return nil }
        return try String.fetchOne(
            db.cachedStatement(sql: "SELECT _content FROM \(table.name) WHERE _key = ?"), arguments: [key])
    }

    func content(_ sha256: String) throws -> Content? {
        try Row.fetchOne(
            db.cachedStatement(sql: "SELECT size, type FROM sync_content WHERE sha256 = ?"), arguments: [sha256]
        ).map { Content(sha256: sha256, size: $0["size"], type: $0["type"]) }
    }

    /// Notes that one more (1) or one less (-1) queued change has this content, which a file is kept for.
    func countQueued(_ column: String?, _ change: Int) throws {
        guard let column, column != Self.nothing else { return }
        try db.cachedStatement(
            sql: "UPDATE sync_content SET uses = uses + ?1, queued = queued + ?1 WHERE sha256 = ?2"
        ).execute(arguments: [change, column])
    }

    /// The content change of a queue row, if it has one.
    func change(_ column: String?) throws -> ContentChange? {
        guard let column else { return nil }
        guard column != Self.nothing else { return .removal }
        return .upload(try content(column) ?? Content(sha256: column, size: 0, type: Content.unknownType))
    }
}

package import EntitySchema
internal import GRDB
internal import JSONText

/// What a queued change does to its record's content.
package enum ContentChange: Sendable, Equatable {
    case upload(Content)
    case removal
}

/// The contents that are here, inside the caller's transaction.
struct ContentTable {
    let db: Database

    /// How a removal stands in the queue.
    static let nothing = ""

    /// Writes down that the file of a content is here, used now.
    func insert(_ content: Content, at now: Timestamp) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO sync_content (sha256, size, type, used_at) VALUES (?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET used_at = excluded.used_at
                """
        ).execute(arguments: [content.sha256, content.size, content.type, now.milliseconds])
    }

    func content(_ sha256: String) throws -> Content? {
        try Row.fetchOne(
            db.cachedStatement(sql: "SELECT size, type FROM sync_content WHERE sha256 = ?"), arguments: [sha256]
        ).map { Content(sha256: sha256, size: $0["size"], type: $0["type"]) }
    }

    /// What a row of the queue does, if that is about content.
    func change(_ column: String?) throws -> ContentChange? {
        guard let column else { return nil }
        guard column != Self.nothing else { return .removal }
        return .upload(try content(column) ?? Content(sha256: column, size: 0, type: Content.unknownType))
    }
}

extension RecordRow {
    /// What the server has as the record's content, as far as it is here, and the address that it was had from.
    func setContent(_ sha256: String?, address: String?, of key: String) throws {
        try db.cachedStatement(sql: "UPDATE \(table.name) SET _content = ?, _content_address = ? WHERE _key = ?")
            .execute(arguments: [sha256, address, key])
    }
}

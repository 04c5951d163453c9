package import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// How a record stands to its content.
package struct ContentStanding: Sendable, Equatable {
    /// The key that the record has now.
    package var key: String
    /// As readers see it, secrets left out.
    package var record: JSONText
    /// What is here; a queued upload before what the server has.
    package var here: Content?
    /// To the hour.
    package var usedAt: Timestamp?
    /// A change of the content waits in the queue.
    package var isQueued: Bool
    /// Where the server's can be had; nil where it has none.
    package var address: String?
    /// What is here is of another address: the server has another by now.
    package var isOutdated: Bool
}

/// The contents of records: counted here, kept in files by whoever calls. Each `install` and `retire` is run inside the
/// transaction, so that no file is without its count for longer than a crash, nor a count without its file.
extension CacheStore {
    /// Nil where there is no such record, or its entity has no content.
    package func contentStanding(of key: String, _ entity: String) throws -> ContentStanding? {
        let table = try table(entity)
        guard let plan = table.entity.content else { return nil }
        return try snapshot { db in
            let key = try KeyAlias.current(of: key, entity, db)
            guard let record = try RecordRow(table: table, db: db).load(key), !record.deleted else { return nil }
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT _content, _content_address, (
                          SELECT content FROM sync_outbox
                          WHERE entity = ?2 AND record_key = _key AND content IS NOT NULL ORDER BY id DESC LIMIT 1) AS queued
                        FROM \(table.name) WHERE _key = ?1
                        """),
                arguments: [key, entity])
            let document = sealers[entity].remove(from: record.document)
            let queued: String? = row?["queued"]
            let kept: String? = row?["_content"]
            let sha256 = queued ?? kept
            let address = plan.address.flatMap { table.entity.value(of: $0, in: document)?.string }
            let known: String? = row?["_content_address"]
            return ContentStanding(
                key: key, record: document, here: try sha256.flatMap(ContentTable(db: db).content),
                usedAt: try sha256.flatMap { try usedAt($0, db) }, isQueued: queued != nil,
                address: address?.isEmpty == true ? nil : address,
                isOutdated: queued == nil && kept != nil && plan.address != nil && known != address)
        }
    }

    private func usedAt(_ sha256: String, _ db: Database) throws -> Timestamp? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT used_at FROM sync_content WHERE sha256 = ?"), arguments: [sha256]
        ).map(Timestamp.init(milliseconds:))
    }

    /// Keeps what was fetched from `address` as the record's content.
    package func keep(
        _ content: Content, of key: String, _ entity: String, from address: String, at now: Timestamp,
        install: @escaping @Sendable () throws -> Void
    ) async throws {
        let table = try table(entity)
        try await writer.write { db in
            try install()
            try ContentTable(db: db).insert(content, at: now)
            try RecordRow(table: table, db: db).setContent(
                content.sha256, address: address, of: KeyAlias.current(of: key, entity, db))
        }
    }

    /// Makes a content the one that was used last.
    package func noteUse(of sha256: String, at now: Timestamp) async throws {
        try await writer.write { db in
            try db.execute(
                sql: "UPDATE sync_content SET used_at = ? WHERE sha256 = ?", arguments: [now.milliseconds, sha256])
        }
    }

    // MARK: Making room

    /// Forgets one content that nothing refers to and calls `retire` for its file; nil when there is none.
    package func forgetUnusedContent(
        retire: @escaping @Sendable (_ sha256: String) throws -> Void
    ) async throws -> String? {
        let unused = try read { db in
            try String.fetchOne(db.cachedStatement(sql: "SELECT sha256 FROM sync_content WHERE uses = 0 LIMIT 1"))
        }
        guard let unused else { return nil }
        return try await writer.write { db in
            try db.execute(sql: "DELETE FROM sync_content WHERE sha256 = ? AND uses = 0", arguments: [unused])
            // Somebody may have come to use it meanwhile.
            if db.changesCount > 0 { try retire(unused) }
            return unused
        }
    }

    /// Lets records go without the contents that were used longest ago, until those that are kept have `limit` bytes at
    /// most; what waits to be uploaded stays whatever it takes. Returns how many went.
    package func dropContents(beyond limit: Int) async throws -> Int {
        guard try contentBytes() > limit else { return 0 }
        let tables = schema.entities.filter { $0.content != nil }.map { EntityTable(entity: $0) }
        return try await writer.write { db in
            var (size, dropped) = (try Self.contentBytes(db), 0)
            let candidates = try Row.fetchAll(
                db, sql: "SELECT sha256, size FROM sync_content WHERE queued = 0 AND uses > 0 ORDER BY used_at, sha256")
            for candidate in candidates where size > limit {
                for table in tables {
                    try db.cachedStatement(sql: "UPDATE \(table.name) SET _content = NULL WHERE _content = ?")
                        .execute(arguments: [candidate["sha256"] as String])
                }
                size -= candidate["size"]
                dropped += 1
            }
            return dropped
        }
    }

    /// Of all contents that something refers to.
    package func contentBytes() throws -> Int { try read(Self.contentBytes) }

    private static func contentBytes(_ db: Database) throws -> Int {
        try Int.fetchOne(db.cachedStatement(sql: "SELECT coalesce(sum(size), 0) FROM sync_content WHERE uses > 0")) ?? 0
    }

    /// Calls `sweep` with every content that is counted, while none comes or goes: for files that a crash left behind.
    package func sweepContents(_ sweep: @escaping @Sendable (_ counted: Set<String>) throws -> Void) async throws {
        try await writer.write { db in
            try sweep(String.fetchSet(db, sql: "SELECT sha256 FROM sync_content"))
        }
    }
}

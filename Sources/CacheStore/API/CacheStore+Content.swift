package import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// The state of a record's content.
package struct ContentStatus: Sendable, Equatable {
    /// The record's current key.
    package var key: String
    /// As readers see it, without secrets.
    package var record: JSONText
    /// The local content: a queued upload if there is one, else a copy of the server's.
    package var here: Content?
    /// To the hour.
    package var usedAt: Timestamp?
    /// A change of the content is in the queue.
    package var isQueued: Bool
    /// The address of the server's content; nil when it has none.
    package var address: String?
    /// The local copy is of another address: the server has different content by now.
    package var isOutdated: Bool
}

/// The contents of records. They are counted here; the caller keeps the files. `install` and `retire` run inside the
/// transaction, so that a file and its count differ only until the next start after a crash.
extension CacheStore {
    /// Nil when there is no such record or its entity has no content.
    package func contentStatus(of key: String, _ entity: String) throws -> ContentStatus? {
        try snapshot { try contentStatus(of: key, entity, $0) }
    }

    func contentStatus(of key: String, _ entity: String, _ db: Database) throws -> ContentStatus? {
        let table = try table(entity)
        guard let plan = table.entity.content else { return nil }
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
        let document = sealers[entity].withoutSealed(record.document)
        let queued: String? = row?["queued"]
        let kept: String? = row?["_content"]
        let sha256 = queued ?? kept
        let address = table.entity.contentAddress(
            of: try FarValues(schema: schema, db: db).added(to: document, as: record.remote, of: table.entity))
        let known: String? = row?["_content_address"]
        return ContentStatus(
            key: key, record: document, here: try sha256.flatMap(ContentTable(db: db).content),
            usedAt: try sha256.flatMap { try usedAt($0, db) }, isQueued: queued != nil,
            address: address?.isEmpty == true ? nil : address,
            isOutdated: queued == nil && kept != nil && plan.mayMove && known != address)
    }

    private func usedAt(_ sha256: String, _ db: Database) throws -> Timestamp? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT used_at FROM sync_content WHERE sha256 = ?"), arguments: [sha256]
        ).map(Timestamp.init(milliseconds:))
    }

    /// Stores what was fetched from `address` as the record's content.
    package func keep(
        _ content: Content, of key: String, _ entity: String, from address: String, at now: Timestamp,
        install: @escaping @Sendable () throws -> Void
    ) async throws {
        let table = try table(entity)
        try await change(at: now) { context in
            try install()
            try ContentTable(db: context.db).insert(content, at: now)
            try context.writer(table).setContent(
                content.sha256, address: address, of: KeyAlias.current(of: key, entity, context.db))
        }
    }

    /// Marks a content as the most recently used.
    package func noteUse(of sha256: String, at now: Timestamp) async throws {
        try await writer.write { db in
            try db.execute(
                sql: "UPDATE sync_content SET used_at = ? WHERE sha256 = ?", arguments: [now.milliseconds, sha256])
        }
    }

    /// The contents of other creations of the entity that may have reached the upstream, unless it is the same content.
    package func contentsSent(beside change: OutboxChange) throws -> Set<String> {
        try read { db in
            try String.fetchSet(
                db.cachedStatement(
                    sql: """
                        SELECT content FROM sync_outbox
                        WHERE entity = ? AND operation = 'create' AND tried > 0 AND id <> ? AND content IS NOT ?
                          AND content <> ''
                        """),
                arguments: [change.entity, change.id, change.content?.column])
        }
    }

    // MARK: Making room

    /// Deletes one content that nothing refers to and calls `retire` for its file; nil when there is none, or when the one found
    /// was used again meanwhile: a later call finds the others.
    package func forgetUnusedContent(
        retire: @escaping @Sendable (_ sha256: String) throws -> Void
    ) async throws -> String? {
        let unused = try read { db in
            try String.fetchOne(db.cachedStatement(sql: "SELECT sha256 FROM sync_content WHERE uses = 0 LIMIT 1"))
        }
        guard let unused else { return nil }
        return try await writer.write { db in
            try db.execute(sql: "DELETE FROM sync_content WHERE sha256 = ? AND uses = 0", arguments: [unused])
            guard db.changesCount > 0 else { return nil }
            try retire(unused)
            return unused
        }
    }

    /// Drops the least recently used contents until the rest have at most `limit` bytes. Contents that wait for upload
    /// always stay. Returns how many were dropped.
    package func dropContents(beyond limit: Int) async throws -> Int {
        guard try contentBytes() > limit else { return 0 }
        let tables = schema.entities.filter { $0.content != nil }.map { EntityTable(entity: $0) }
        return try await writer.write { db in
            var (size, dropped) = (try Self.contentBytes(db), 0)
            let contents = ContentTable(db: db)
            let candidates = try Row.fetchAll(
                db, sql: "SELECT sha256, size FROM sync_content WHERE queued = 0 AND uses > 0 ORDER BY used_at, sha256")
            for candidate in candidates where size > limit {
                for table in tables {
                    try contents.drop(candidate["sha256"], in: table)
                }
                size -= candidate["size"]
                dropped += 1
            }
            return dropped
        }
    }

    /// The size of all contents that are referred to.
    package func contentBytes() throws -> Int { try read(Self.contentBytes) }

    private static func contentBytes(_ db: Database) throws -> Int {
        try Int.fetchOne(db.cachedStatement(sql: "SELECT coalesce(sum(size), 0) FROM sync_content WHERE uses > 0")) ?? 0
    }

    /// Calls `sweep` with every counted content while none is added or removed: for deleting files that a crash left
    /// behind.
    package func sweepContents(_ sweep: @escaping @Sendable (_ counted: Set<String>) throws -> Void) async throws {
        try await writer.write { db in
            try sweep(String.fetchSet(db, sql: "SELECT sha256 FROM sync_content"))
        }
    }
}

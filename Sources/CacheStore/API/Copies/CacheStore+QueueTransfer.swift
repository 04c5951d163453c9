package import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Adds another database's queue to this one's, or replaces it.
extension CacheStore {
    /// Adds the changes that are not here and have not been; adding the same queue again changes nothing.
    ///
    /// Throws `.incompatible` for changes with secrets that were sealed with another key.
    package func take(_ queue: ExportedQueue, at now: Timestamp) async throws -> ExportedCount {
        try await change(at: now) { [self] context in
            let own = QueueSnapshot(context.db)
            try requireKey(of: queue, own)
            var changes = queue.changes
            // Changes that left this queue since it was exported must not come back.
            if queue.origin.settings["database"] == own.settings["database"] {
                changes.removeAll(where: own.hasEnded)
            }
            let newest = try OutboxTable.newest(context.db)
            var count = try QueueImport(context: context, settings: queue.origin.settings)
                .addUnknown(changes)
            if count.added > 0 { try noteUnshared(after: newest, context.db) }
            count.known += queue.changes.count - changes.count
            return count
        }
    }

    /// No standby knows what was imported.
    private func noteUnshared(after newest: Int64, _ db: Database) throws {
        var unshared = try UnsharedChanges(db)
        unshared.add(newest + 1...(try OutboxTable.newest(db)))
        try unshared.save(db)
    }

    private func requireKey(of queue: ExportedQueue, _ own: QueueSnapshot) throws {
        let settings = queue.origin.settings
        let isSealed = queue.changes.contains { change in
            settings["secrets:\(change.entity)"].map { $0 != "[]" } ?? false
        }
        guard isSealed, settings["secrets_key"] != own.settings["secrets_key"] else { return }
        throw CacheError.incompatible(
            "the changes have secrets that were sealed with another key; bring secret.key along from the other machine")
    }

    // MARK: Replacing the queue

    /// Replaces the queue by that of `reading`.
    func replaceQueue(with reading: QueueSnapshot, isSameCache: Bool = false, at now: Timestamp) async throws {
        // Rows belong to the thread that read them; their values do not.
        let rows = reading.rows.mapValues { $0.map { row in row.map { (column: $0.0, value: $0.1) } } }
        let (changes, settings, lastID) = (reading.changes, reading.settings, reading.lastID)
        try await change(at: now) { [self] context in
            let db = context.db
            try clearQueue(context)
            // The changes of other databases are known only after the changes themselves are in.
            for table in QueueSnapshot.kept where table != "sync_carried" {
                try Self.insert(rows[table] ?? [], into: table, db)
            }
            try QueueImport(context: context, settings: settings, isSameCache: isSameCache)
                .add(changes, isOwnHistory: true)
            try Self.insert(rows["sync_carried"] ?? [], into: "sync_carried", db)
            try context.log.reserve(upTo: lastID)
        }
    }

    func clearQueue(_ context: WriteContext) throws {
        let db = context.db
        let records = try Row.fetchAll(db, sql: "SELECT DISTINCT entity, record_key FROM sync_outbox")
        try context.queue.removeAll()
        for record in records {
            guard let entity = schema[record[0]] else { continue }
            try context.writer(EntityTable(entity: entity)).rebuildDocument(over: record[1])
        }
    }

    /// A row replaces an older one. Left out are rows with columns that the table does not have, which are of another version,
    /// and rows whose values do not fit, which are damaged.
    private static func insert(_ rows: [[(column: String, value: DatabaseValue)]], into table: String, _ db: Database)
        throws
    {
        let known = Set(try db.columns(in: table).map(\.name))
        for row in rows where known.isSuperset(of: row.map(\.column)) {
            let columns = row.map { $0.column.quoted(by: "\"") }.joined(separator: ", ")
            let marks = row.map { _ in "?" }.joined(separator: ", ")
            do {
                try db.execute(
                    sql: "INSERT OR REPLACE INTO \(table) (\(columns)) VALUES (\(marks))",
                    arguments: StatementArguments(row.map(\.value)))
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                continue
            }
        }
    }
}

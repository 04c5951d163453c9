package import EntitySchema
internal import Foundation
internal import GRDB
internal import SQLiteStore
package import Secrets

/// Restores a backup in place of a database.
///
/// Records, history and conflict decisions become those of the backup. The queue becomes everything that may be unsent:
/// - A change that the replaced database has queued stays.
/// - A change that it knows to be sent is dropped.
/// - A change that only the backup has may have been sent since: it is retried as an attempt with unknown outcome.
///
/// Old keys, answers to repeatable calls and known imports of the replaced database are added to those of the backup.
package struct DatabaseRestore: Sendable {
    package struct Report: Sendable, Equatable {
        /// The new name of the replaced database; nil if there was none.
        package var replaced: String?
        /// The number of changes in the queue now, and how many of them may have been sent before.
        package var queued: Int
        package var uncertain: Int
        /// How many of them were made since the backup.
        package var since = 0
        /// The ids of changes that are unsent according to the replaced database, and that could not be read from it.
        package var lost: [Int64] = []
    }

    let path: String
    let schema: EntitySchema
    let sealer: SecretSealer
    let reminderDays: ReminderDays
    let makeID: @Sendable () -> String

    package init(
        path: String, schema: EntitySchema, sealer: SecretSealer, reminderDays: ReminderDays = .utc,
        makeID: @escaping @Sendable () -> String
    ) {
        self.path = path
        self.schema = schema
        self.sealer = sealer
        self.reminderDays = reminderDays
        self.makeID = makeID
    }

    /// Nothing else may have the database open. When this throws, nothing has changed. Throws `.incompatible` for a
    /// backup that another program has changed (`BackupCheck`).
    package func run(from backup: String, at now: Timestamp) async throws -> Report {
        let fresh = path + ".restore"
        DatabaseFile(fresh).delete()
        // Before the copy gets its first own write.
        try DatabaseCopy.make(of: backup, at: fresh) { copy in
            try DatabaseFile.openReadOnly(backup).backup(to: copy)
            try copy.write { db in
                try BackupCheck(db: db, schema: schema, path: backup).run()
                try Self.requireQueue(db, backup)
                try Self.forgetNotes(db)
            }
        }
        do {
            var report = try await fill(fresh, at: now)
            report.replaced = try DatabaseFile(path).replace(with: fresh, .replaced, at: now)
            return report
        } catch {
            DatabaseFile(fresh).delete()
            throw error
        }
    }

    /// Throws `.incompatible` if reading a table of the backup would run SQL of the file. A file that cannot be read
    /// passes.
    package static func requireTables(in backup: String, _ schema: EntitySchema) throws {
        do {
            try DatabaseFile.openReadOnly(backup).read { db in
                try BackupCheck(db: db, schema: schema, path: backup).requireOwnNames()
            }
        } catch is DatabaseError {}
    }

    /// The same for a database that a command is to write to: a trigger could run with each write.
    package static func requireOwnSQL(in database: String, _ schema: EntitySchema) throws {
        do {
            try DatabaseFile.openReadOnly(database).read { db in
                let check = BackupCheck(db: db, schema: schema, path: database)
                try check.requireOwnNames()
                try check.requireOwnTriggers()
            }
        } catch is DatabaseError {}
    }

    /// Throws `.incompatible` for a change with a value that an exported queue would be refused for.
    private static func requireQueue(_ db: Database, _ backup: String) throws {
        guard try db.tableExists("sync_outbox") else { return }
        let rows = try Row.fetchCursor(db, sql: "SELECT * FROM sync_outbox")
        while let row = try rows.next() {
            guard let change = try? ExportedChange(row: row), let problem = change.problem else { continue }
            throw CacheError.incompatible(
                """
                change \(change.id) in \(backup) is not one of a queue: \(problem); it was changed by another program; \
                restore another backup
                """)
        }
    }

    /// What the backup notes of its records is found out again, because another program may have changed it.
    private static func forgetNotes(_ db: Database) throws {
        guard try db.tableExists("sync_setting") else { return }
        try AddedMembers.forget(db)
        try RecordMark.forget(db)
    }

    private func fill(_ fresh: String, at now: Timestamp) async throws -> Report {
        let store = try CacheStore(
            path: fresh, schema: schema, sealer: sealer, settings: CacheSettings(reminderDays: reminderDays),
            makeID: makeID)
        do {
            let report = try await replaceQueue(of: store, at: now)
            try store.close()
            return report
        } catch {
            try? store.close()
            throw error
        }
    }

    private func replaceQueue(of store: CacheStore, at now: Timestamp) async throws -> Report {
        var merge = QueueMerge()
        if FileManager.default.fileExists(atPath: path) {
            DamagedFile(path: path, backups: []).forEachReading { reading in
                // Its records have other row numbers than the backup's.
                merge.add(reading.forgettingKnownRecords())
            }
        } else {
            // Nothing in a backup is certain, even if nothing newer is known.
            merge.add(QueueSnapshot())
        }
        var older = try store.snapshot(QueueSnapshot.init)
        try store.snapshot { db in try older.countKnownRecords(schema, db) }
        let known = KnownChanges(older.changes)
        let since = merge.queue.changes.count { known.index(of: $0) == nil }
        merge.add(older)
        var queue = merge.queue
        let lost = queue.isComplete ? [] : queue.lost
        // Callers have seen the answers and the keys since the backup. Everything else comes from the backup itself.
        queue.rows["sync_conflict"] = nil
        queue.settings = older.settings
        try await store.replaceQueue(with: queue, isSameCache: true, at: now)
        return Report(queued: queue.changes.count, uncertain: merge.uncertain, since: since, lost: lost)
    }
}

extension QueueSnapshot {
    fileprivate func forgettingKnownRecords() -> QueueSnapshot {
        var reading = self
        for index in reading.changes.indices { reading.changes[index].knownPk = nil }
        return reading
    }

    /// Records which rows existed before anything that the changes may have created since.
    fileprivate mutating func countKnownRecords(_ schema: EntitySchema, _ db: Database) throws {
        for index in changes.indices where changes[index].knownPk == nil {
            guard let entity = schema[changes[index].entity] else { continue }
            changes[index].knownPk =
                try Int64.fetchOne(db, sql: "SELECT max(_pk) FROM \(EntityTable(entity: entity).name)") ?? 0
        }
    }
}

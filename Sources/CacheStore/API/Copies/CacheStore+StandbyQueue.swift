package import EntitySchema
internal import Foundation
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// One queued change as a standby keeps it for the daemon that takes over.
package struct StandbyEntry: Sendable, Equatable {
    package var id: Int64
    /// The idempotency key that the change was given at first.
    package var key: String
    /// The change as JSON. It differs only if something differs that the next daemon has to know.
    package var text: String
}

/// What is queued, or what has changed in the queue since a place in the change log.
package struct StandbyNews: Sendable, Equatable {
    /// The end of the change log that this is up to.
    package var position: Int64
    /// Whether `entries` are all that is queued.
    package var isWhole: Bool
    package var entries: [StandbyEntry]
    /// The changes that have left the queue.
    package var gone: [Int64]
    /// How many changes are queued.
    package var count: Int
}

/// The queue for the daemon that takes over.
extension CacheStore {
    /// What has changed since `position`; all that is queued if it is nil or too old, or after a record got another key.
    package func standbyNews(since position: Int64?) throws -> StandbyNews {
        try snapshot { db in
            let end = try Self.logEnd(db)
            guard let position, try position >= Self.logFloor(db), position <= end,
                let touched = try Self.touched(since: position, db)
            else {
                let entries = try Self.entries(nil, schema, db)
                return StandbyNews(position: end, isWhole: true, entries: entries, gone: [], count: entries.count)
            }
            let entries = try touched.isEmpty ? [] : Self.entries(touched, schema, db)
            let gone = touched.subtracting(entries.map(\.id))
            let count = try Int.fetchOne(db.cachedStatement(sql: "SELECT count(*) FROM sync_outbox")) ?? 0
            return StandbyNews(position: end, isWhole: false, entries: entries, gone: gone.sorted(), count: count)
        }
    }

    /// The changes with a step after `position`; nil if other changes may be concerned too.
    fileprivate static func touched(since position: Int64, _ db: Database) throws -> Set<Int64>? {
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT change_id, kind FROM sync_change_log
                    WHERE seq > ? AND (change_id IS NOT NULL OR kind = 'renamed')
                    """),
            arguments: [position])
        var touched: Set<Int64> = []
        while let row = try rows.next() {
            // The changes of the record, and of those that refer to it, have other keys now.
            if row["kind"] == ChangeLogKind.renamed.rawValue { return nil }
            if let id: Int64 = row["change_id"] { touched.insert(id) }
        }
        return touched
    }

    fileprivate static func entries(
        _ ids: Set<Int64>?, _ schema: EntitySchema, _ db: Database
    ) throws -> [StandbyEntry] {
        let condition = ids.map { "WHERE id IN (\($0.map(String.init).joined(separator: ", ")))" } ?? ""
        let changes = try ExportedChange.fetchAll(db, sql: "SELECT * FROM sync_outbox \(condition) ORDER BY id")
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        func text(_ change: ExportedChange) throws -> String {
            String(decoding: try encoder.encode(change), as: UTF8.self)
        }
        return try changes.map { change in
            var change = change.forStandby
            change.latest = try latest(of: change, schema, db)?.text
            if let content = try change.content.flatMap(ContentTable(db: db).content) {
                (change.contentSize, change.contentType) = (content.size, content.type)
            }
            var whole = try text(change)
            // A pull can make it longer than it was when the change was made, and the change itself has to fit.
            if change.latest != nil, whole.utf8.count > Self.longestWithLatest {
                change.latest = nil
                whole = try text(change)
            }
            return StandbyEntry(id: change.id, key: OutboxChange.original(change.idempotencyKey), text: whole)
        }
    }

    /// In bytes; etcd takes somewhat more.
    private static let longestWithLatest = 1 << 20

    /// See `ExportedChange.latest`; nil for a creation.
    private static func latest(of change: ExportedChange, _ schema: EntitySchema, _ db: Database) throws -> JSONText? {
        guard change.kind != .create, let entity = schema[change.entity],
            let remote = try RecordRow(table: EntityTable(entity: entity), db: db).remote(of: change.recordKey)
        else { return nil }
        let base = try JSONText(parsing: change.base)
        let names = base.members.map(\.key) + [entity.pull?.changedAt].compactMap(\.self)
        return names.reduce(JSONText.object([:])) { latest, name in
            guard let value = entity.value(of: name, in: remote), value != base[name] else { return latest }
            return latest.setting(name, to: value)
        }
    }

    // MARK: What is stored for a standby

    /// From now on, what is queued is stored for a standby before it is acknowledged. What is queued by now may not be.
    package func beginSharing() async throws {
        try await writer.write { db in
            var unshared = try UnsharedChanges(db)
            unshared.end(at: try OutboxTable.newest(db))
            try unshared.save(db)
        }
    }

    /// From now on, nothing is stored for a standby. Writes nothing if nothing was.
    package func endSharing() async throws {
        guard try read({ try UnsharedChanges($0) }) != .all else { return }
        try await writer.write { db in
            var unshared = try UnsharedChanges(db)
            unshared.add(try OutboxTable.newest(db) + 1...Int64.max)
            try unshared.save(db)
        }
    }

    /// All that is queued is stored for a standby.
    package func noteShared() async throws {
        guard try !read({ try UnsharedChanges($0) }).ranges.isEmpty else { return }
        try await writer.write { try UnsharedChanges([]).save($0) }
    }

    // MARK: Taking over

    /// Replaces the queue by what another daemon has left, in the order in which it was made.
    ///
    /// Changes that are not among those stay if they were never stored for a standby, or if `keepsAll`: nothing else has
    /// them. Throws `.invalid` for a text that is not one of a `StandbyEntry`, and then changes nothing.
    package func takeOver(_ texts: [String], keepsAll: Bool, at now: Timestamp) async throws {
        let made = try texts.map(Self.change).sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
        let changes = made.map { $0.made(by: now) }
        try await change(at: now) { [self] context in
            let keys = Set(changes.map { OutboxChange.original($0.idempotencyKey) })
            let unshared = try keepsAll ? .all : UnsharedChanges(context.db)
            let own = try ExportedChange.fetchAll(context.db, sql: "SELECT * FROM sync_outbox ORDER BY id").filter {
                unshared.contains($0.id) && !keys.contains(OutboxChange.original($0.idempotencyKey))
            }
            try clearQueue(context)
            // The secrets are sealed with this daemon's key, or cannot be opened here.
            try QueueImport(context: context, settings: [:]).add(own + changes)
            // They have other ids now, and are still nowhere else.
            let kept = Set(own.map { OutboxChange.original($0.idempotencyKey) })
            let all = try Row.fetchAll(context.db, sql: "SELECT id, idempotency_key FROM sync_outbox")
            try UnsharedChanges(all.filter { kept.contains(OutboxChange.original($0[1])) }.map { $0[0] }).save(
                context.db)
        }
    }

    /// Adds those of this daemon's changes that its file has never had, because it was put back to an older state. Returns
    /// how many. Throws as `takeOver` does.
    package func takeBack(_ texts: [String], at now: Timestamp) async throws -> Int {
        let queued = try snapshot { db in
            Set(try String.fetchAll(db, sql: "SELECT idempotency_key FROM sync_outbox").map(OutboxChange.original))
        }
        let changes = try texts.map(Self.change).filter { !queued.contains(OutboxChange.original($0.idempotencyKey)) }
            .sorted { $0.id < $1.id }
        // Reading the whole log takes long.
        guard !changes.isEmpty else { return 0 }
        return try await change(at: now) { context in
            let own = QueueSnapshot(context.db)
            // The secrets are sealed with this daemon's key.
            return try QueueImport(context: context, settings: [:]).addUnknown(changes.filter { !own.hasEnded($0) })
                .added
        }
    }

    private static func change(_ text: String) throws -> ExportedChange {
        let change = try? JSONDecoder().decode(ExportedChange.self, from: Data(text.utf8))
        guard let change, change.problem == nil else {
            throw CacheError.invalid([FieldProblem(field: "queue", message: change?.problem ?? "not a queued change")])
        }
        return change
    }
}

extension LocalTransaction {
    /// Does `body`; throws `refusal` if a change that it queued or edited has more than `limit` bytes as a `StandbyEntry`.
    package func requireRoom<Result>(
        _ limit: Int, else refusal: any Error, _ body: (LocalTransaction) throws -> Result
    ) throws -> Result {
        let position = try CacheStore.logEnd(db)
        let result = try body(self)
        let touched = try CacheStore.touched(since: position, db)
        guard touched?.isEmpty != true else { return result }
        let isTooLarge = try CacheStore.entries(touched, context.schema, db).contains { $0.text.utf8.count > limit }
        guard !isTooLarge else { throw refusal }
        return result
    }
}

extension ExportedChange {
    /// Without what only this daemon needs: the numbers and times of its attempts, and the record, which every daemon
    /// has in some version (`latest`).
    /// Whether the change may have been sent stays, and so does what a person has to decide.
    fileprivate var forStandby: ExportedChange {
        var change = self
        change.tried = min(tried, 1)
        (change.attemptCount, change.lastAttemptAt, change.nextAttemptAt) = (0, nil, nil)
        (change.knownPk, change.record, change.conflicts) = (nil, nil, nil)
        guard state != OutboxState.failed.rawValue else { return change }
        change.state = OutboxState.queued.rawValue
        (change.errorClass, change.errorStatus, change.errorMessage) = (nil, nil, nil)
        return change
    }

    /// The clock of the daemon that made it may be ahead. What is made here from now on comes after it, also for the
    /// next daemon.
    fileprivate func made(by now: Timestamp) -> ExportedChange {
        var change = self
        change.createdAt = min(createdAt, now.milliseconds)
        return change
    }
}

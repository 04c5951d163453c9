import EntitySchema
import JSONText
import LocalAPI

/// Feeds one daemon's records into one database over one connection, each batch with the position in one transaction.
struct Feed {
    let source: FeedSource
    let target: FeedTarget
    let now: @Sendable () -> Timestamp
    /// Takes what people may want to know.
    let say: @Sendable (String) -> Void

    private var settings: FeedSettings { target.settings }

    /// How long the daemon holds a call without changes, and how long until the schema's file is looked at again, in seconds.
    private static let wait = 30
    /// Between two checks whether the daemon's first load has ended.
    private static let pause = Duration.seconds(2)

    /// Follows until the task is cancelled, or with `once` until everything is fed. `progressed` is called after each batch.
    ///
    /// Throws when either side fails; another call continues where the database is.
    func run(progressed: () -> Void) async throws {
        try target.prepare()
        var hash = try await source.about().schemaHash
        var shape = try await source.shape(schemaHash: hash)
        var looked = ContinuousClock.now
        var tables = try tables(for: shape)
        // After the tables, because it ends where one is made again.
        var stored = try target.position()
        var needsSnapshot = false
        while !Task.isCancelled {
            if ContinuousClock.now - looked > .seconds(Self.wait) {
                hash = try await source.about().schemaHash
                looked = .now
            }
            let found = try await source.shape(schemaHash: hash)
            if found != shape {
                shape = found
                tables = try self.tables(for: shape)
                stored = try target.position()
            }
            guard let position = stored, position.shape == shape.text, !needsSnapshot else {
                stored = try await snapshot(shape, tables.all, replacing: stored)
                needsSnapshot = false
                progressed()
                continue
            }
            let wait = settings.once ? 0 : Self.wait
            guard let batch = try await source.changes(after: position, wait: wait) else {
                say("the change log no longer has what comes next: reading all records again")
                needsSnapshot = true
                continue
            }
            if batch.next != position.sequence {
                stored = try await apply(batch, tables.all, after: position)
            } else if settings.once {
                return
            }
            progressed()
        }
    }

    private func tables(for shape: FeedSource.Shape) throws -> FeedTarget.Tables {
        let tables = try target.tables(for: shape.entities)
        tables.news.forEach(say)
        return tables
    }

    private static let otherCache = LocalAPIError.unreachable("the daemon has changed to another cache")

    // MARK: A batch

    private func apply(
        _ batch: FeedSource.Batch, _ tables: [FeedStatements], after old: FeedPosition
    ) async throws -> FeedPosition {
        let new = FeedPosition(epoch: batch.epoch, sequence: batch.next, shape: old.shape)
        let changes = FeedChanges(batch.entries, now: now())
        var merged: [(table: FeedStatements, rows: FeedRows)] = []
        var removed: [(table: FeedStatements, keys: [String], times: [Timestamp])] = []
        // Everything is read before the transaction begins, so that it is short.
        for name in changes.entities {
            guard let table = tables.first(where: { $0.table.entity.name == name }), let times = changes.times[name]
            else { continue }
            let entity = table.table.entity
            var rows = FeedRows()
            var gone = times
            for record in try await source.records(of: entity, times.keys.map(\.text).sorted()) {
                let id = ExactText(record[entity.key]?.plain ?? "")
                rows.add(record, of: entity, at: times[id] ?? now())
                gone[id] = nil
            }
            merged.append((table, rows))
            removed.append((table, gone.keys.map { PostgresText.clean($0.text) }, Array(gone.values)))
        }
        // What another cache does not have yet is not gone.
        guard try await source.end().epoch == batch.epoch else { throw Self.otherCache }
        try target.connection.transaction { () throws(PostgresError) in
            try target.move(from: old, to: new)
            for (table, keys, times) in removed { try target.remove(keys, at: times, from: table) }
            for (table, rows) in merged { try target.merge(rows, into: table) }
        }
        return new
    }

    // MARK: A snapshot

    /// Makes the tables what the lists are now, in one transaction: readers see the old rows until it ends.
    ///
    /// Only this instance's rows change, and of those only what differs.
    private func snapshot(
        _ shape: FeedSource.Shape, _ tables: [FeedStatements], replacing old: FeedPosition?
    ) async throws -> FeedPosition {
        try await awaitComplete(shape)
        // Before the lists are read: what changes meanwhile comes again with the log.
        let end = try await source.end()
        let new = FeedPosition(epoch: end.epoch, sequence: end.next, shape: shape.text)
        let time = now()
        try target.connection.begin()
        do {
            try target.move(from: old, to: new)
            var (read, removed) = (0, 0)
            for table in tables {
                let counts = try await merge(table, at: time)
                (read, removed) = (read + counts.read, removed + counts.removed)
            }
            // Lists of two caches, as after a restart with another account, must not be mixed.
            guard try await source.changes(after: new, wait: 0) != nil, try await source.incomplete(shape) == nil else {
                throw Self.otherCache
            }
            try target.connection.run("COMMIT")
            say("merged \(read.counted("record", "records")), removed \(removed)")
        } catch {
            target.connection.rollBack()
            throw error
        }
        return new
    }

    private func merge(
        _ table: FeedStatements, at time: Timestamp
    ) async throws -> (read: Int, removed: Int) {
        let entity = table.table.entity
        var (read, cursor) = (0, String?.none)
        try target.beginSeen()
        repeat {
            try Task.checkCancellation()
            let page = try await source.page(of: entity, after: cursor)
            var rows = FeedRows()
            for record in page.records { rows.add(record, of: entity, at: time) }
            try target.merge(rows, into: table)
            try target.markSeen(rows.keys)
            read += rows.count
            cursor = page.next
        } while cursor != nil
        return (read, try target.removeUnseen(at: time, from: table))
    }

    /// A snapshot of half a cache would remove what only has not been loaded yet.
    private func awaitComplete(_ shape: FeedSource.Shape) async throws {
        var isSaid = false
        while let name = try await source.incomplete(shape) {
            guard !settings.once else {
                throw CommandFailure(
                    .temporaryFailure, "the daemon's first load of \(name) has not ended; try again later")
            }
            if !isSaid { say("waiting for the end of the daemon's first load of \(name)") }
            isSaid = true
            try await Task.sleep(for: Self.pause)
        }
    }
}

package import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// Writes what pulls bring, and keeps their cursors.
extension CacheStore {
    /// Writes the records that differ, applies queued changes over them, deletes those marked as deleted, logs all of
    /// it and moves the cursor, in one transaction. A page without news writes nothing at all: after an interruption
    /// the pull continues a little earlier, which is harmless.
    package func apply(_ page: PulledPage, at now: Timestamp) async throws -> PageOutcome {
        let step = try await apply([page], continuing: (), at: now, before: { _, _ in }, after: { _, _, _ in })
        return step.outcomes.first ?? PageOutcome()
    }

    /// Writes several pages in one transaction, in their order. Stops after a page when other writes wait; returns the
    /// outcome of each page that was written.
    ///
    /// `before` completes a page with what those before it have led to, and `after` takes in its outcome. Both may run
    /// twice for one page, the first time from a copy that is dropped.
    package func apply<Progress: Sendable>(
        _ pages: [PulledPage], continuing progress: Progress, at now: Timestamp,
        before: @escaping @Sendable (Progress, inout PulledPage) -> Void,
        after: @escaping @Sendable (inout Progress, PulledPage, PageOutcome) -> Void
    ) async throws -> (outcomes: [PageOutcome], progress: Progress) {
        let prepared = try pages.map { try prepare($0, at: now) }
        return try await change(at: now) { [self] context in
            var progress = progress
            var outcomes: [PageOutcome] = []
            for page in prepared where outcomes.isEmpty || !writer.isAwaited {
                var page = page
                before(progress, &page.page)
                let outcome = try apply(page, context)
                after(&progress, page.page, outcome)
                outcomes.append(outcome)
            }
            return (outcomes, progress)
        }
    }

    /// A page with its records read, and their secrets sealed.
    private struct PreparedPage: Sendable {
        var page: PulledPage
        var table: EntityTable
        var clear: IncomingPage
        var incoming: IncomingPage
        var children: [(pulled: SealedChildren, table: EntityTable)]
    }

    private func prepare(_ page: PulledPage, at now: Timestamp) throws -> PreparedPage {
        let table = try table(page.entity)
        let children = try page.children.map { (pulled: try sealed($0), table: try self.table($0.entity)) }
        let areDeletions = page.deletions != nil
        // A deletion has no values.
        let window = areDeletions ? nil : try window(of: table.entity, at: page.serverNow ?? now)
        func incoming(_ page: PulledPage) -> IncomingPage {
            IncomingPage(page.records, of: table.entity, window: window, areDeletions: areDeletions)
        }
        let clear = incoming(page)
        let page = try sealed(page)
        let read = table.isSealed ? incoming(page) : clear
        return PreparedPage(page: page, table: table, clear: clear, incoming: read, children: children)
    }

    private func apply(_ prepared: PreparedPage, _ context: WriteContext) throws -> PageOutcome {
        let (page, table, db) = (prepared.page, prepared.table, context.db)
        let bounds = PageApplier.Bounds(
            position: page.position, watermark: page.watermark.flatMap(Timestamp.init(iso8601:)),
            isNew: page.isOfFirstPull, hasMore: page.cursor != nil, serverNow: page.serverNow,
            tombstones: page.tombstones, holdsUndated: page.deletions == .dated, view: page.view,
            isDelta: page.isDelta, notesOverwritten: page.wantsOverwritten, isShownOnce: isShownOnce(page, table.entity)
        )
        if page.isOfFirstPull { context.records.isLoading = true }
        let applier = PageApplier(table: table, context: context)
        let unmoved = try page.details.filter { try isUnmoved($0, table, db) }
        // Before the page makes the store forget deletions that are older than it.
        let isDeletedMeanwhile = try page.began.map(applier.hasDeleted) ?? false
        var outcome = try applier.apply(prepared.incoming, clear: prepared.clear, bounds)
        outcome.reduce(to: page)
        outcome.deletedMeanwhile = isDeletedMeanwhile
        for children in prepared.children {
            outcome.children[children.table.entity.name, default: ChildOutcome()] += try PageApplier(
                table: children.table, context: context
            ).apply(children.pulled, of: table, position: page.position)
        }
        if let version = page.version { try Self.set(version, ofRecordIn: page.records, table, db) }
        // Another reading decides about children that are missing.
        let open = Set(outcome.children.values.flatMap(\.missing.keys))
        for detail in unmoved where !open.contains(detail.key.exact) { try markFetched(detail, table, db) }
        for key in open { try context.writer(table).forgetFetched(key.text) }
        if let cursor = page.cursor, outcome.changed {
            try CursorRow(entity: page.entity, db: db).save(cursor.including(outcome))
        } else if page.view == .single, let overwritten = outcome.overwritten {
            try Self.goBack(to: overwritten, in: CursorRow(entity: page.entity, db: db))
        }
        return outcome
    }

    /// A read of one record has shown an older version than the cached one.
    private static func goBack(to time: String, in row: CursorRow) throws {
        let before = try row.load()
        var cursor = before
        cursor.goBack(to: time)
        if cursor != before { try row.save(cursor) }
    }

    /// Whether the upstream shows what is on the page only once, which is also so for a full list that ends with a
    /// delta token.
    private func isShownOnce(_ page: PulledPage, _ entity: Entity) -> Bool {
        guard let deletions = page.deletions else { return page.view == .list && entity.pull?.deltaToken != nil }
        return deletions == .once
    }

    private func sealed(_ page: PulledPage) throws -> PulledPage {
        var page = page
        page.records = try sealers[page.entity].sealed(page: page.records)
        return page
    }

    private func sealed(_ children: PulledChildren) throws -> SealedChildren {
        SealedChildren(children: children, records: try sealers[children.entity].sealed(page: children.records))
    }

    /// The end of the change log.
    package func position() throws -> Int64 { try read { db in try Self.logEnd(db) } }

    /// The server's last version of a record without its secrets, also while its deletion is queued; nil when it has
    /// none.
    package func remote(of entity: String, key: String) throws -> JSONText? {
        let table = try table(entity)
        let remote = try read { db in
            try RecordRow(table: table, db: db).remote(of: KeyAlias.current(of: key, entity, db))
        }
        return remote.map(sealers[entity].withoutSealed)
    }

    package struct OutdatedParent: Sendable, Equatable {
        package var pk: Int64
        package var key: String
        /// Pass it back with the children in `PulledPage.Detail`.
        package var value: String?
        /// The record, for the placeholders of the path.
        package var record: String
    }

    /// Parents after `pk` whose children must be fetched: all, or those that have changed since they last were. At most
    /// `limit`, and none after those with `bytes` in all.
    package func parents(
        of entity: String, after pk: Int64, all: Bool, limit: Int, bytes: Int = .max
    ) throws -> [OutdatedParent] {
        let table = try table(entity)
        guard let fetch = table.fetch else { return [] }
        let condition = all ? "_remote IS NOT NULL AND _deleted = 0" : table.outdated(fetch)
        return try read { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT _pk, _key, \(table.mark(fetch)) AS value, _remote
                        FROM \(table.name) WHERE \(condition) AND _pk > ? ORDER BY _pk LIMIT ?
                        """),
                arguments: [pk, limit])
            var parents: [OutdatedParent] = []
            var size = 0
            while size < bytes, let row = try rows.next() {
                let parent = OutdatedParent(
                    pk: row["_pk"], key: row["_key"], value: row["value"], record: row["_remote"])
                parents.append(parent)
                size += parent.record.utf8.count
            }
            return parents
        }
    }

    /// Only if the record is stored with what came: a list may show members that this answer lacks.
    private static func set(_ version: String, ofRecordIn page: JSONText, _ table: EntityTable, _ db: Database) throws {
        guard let record = page.elements.first, let key = record[table.entity.key]?.plain else {
            return
        }
        let stored = try String.fetchOne(
            db.cachedStatement(sql: "SELECT _remote FROM \(table.name) WHERE _key = ?"), arguments: [key])
        guard let stored = try stored.map(JSONText.init(parsing:)), stored.setting(record) == stored else { return }
        try db.cachedStatement(
            sql: "UPDATE \(table.name) SET _version = ?1 WHERE _key = ?2 AND _version IS NOT ?1"
        ).execute(arguments: [version, key])
    }

    /// Whether the record is still the one that was fetched. With a field as the trigger, its stored value shows that later.
    private func isUnmoved(_ detail: PulledPage.Detail, _ table: EntityTable, _ db: Database) throws -> Bool {
        guard let fetch = table.fetch, fetch.trigger == .any else { return true }
        return try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT \(table.mark(fetch)) IS ? FROM \(table.name) WHERE _key = ?"),
            arguments: [detail.value, detail.key]) ?? false
    }

    private func markFetched(_ detail: PulledPage.Detail, _ table: EntityTable, _ db: Database) throws {
        guard let fetch = table.fetch else { return }
        // What the fetched record itself has changed is no news.
        let isAny = fetch.trigger == .any
        let mark = isAny ? table.mark(fetch) : "?2"
        try db.cachedStatement(
            sql: "UPDATE \(table.name) SET _detail = \(mark) WHERE _key = ?1 AND _detail IS NOT \(mark)"
        ).execute(arguments: isAny ? [detail.key] : [detail.key, detail.value])
    }

    /// Makes the children of these parents outdated.
    package func forgetFetched(_ keys: [String], of entity: String, at now: Timestamp) async throws {
        guard !keys.isEmpty else { return }
        let table = try table(entity)
        try await change(at: now) { context in
            try context.db.cachedStatement(
                sql: "UPDATE \(table.name) SET _detail = NULL WHERE _key IN (SELECT value FROM json_each(?))"
            ).execute(arguments: [JSONText.array(of: keys).text])
        }
    }

    // MARK: Cursors

    package func cursor(of entity: String) throws -> PullCursor {
        try read { db in try CursorRow(entity: entity, db: db).load() }
    }

    /// Has the next pull of each list read everything, also of those of deletions.
    package func forgetLists(at now: Timestamp) async throws {
        try await change(at: now) { context in
            for entity in try String.fetchAll(context.db, sql: "SELECT entity FROM sync_cursor") {
                try CursorRow(entity: entity, db: context.db).change { $0.forgetList() }
            }
        }
    }

    /// Has the next pull read everything if the cache was filled from another list than this one (`PullPlan.definition`): what
    /// only this one shows has no new change times. What a cache of an older version was filled from is not known.
    package func adoptList(_ definition: String, of entity: String) async throws {
        try await adopt(definition, as: "list:\(entity)") { db in
            try CursorRow(entity: entity, db: db).change { $0.forgetList() }
        }
    }

    /// The same of the list that a token is sent to (`PullPlan.tokenDefinition`): a token of another list may mean something else
    /// to it, or nothing.
    package func adoptTokens(_ definition: String, of entity: String) async throws {
        try await adopt(definition, as: "changes:\(entity)") { db in
            try CursorRow(entity: entity, db: db).change { ($0.delta, $0.pull) = (nil, nil) }
        }
    }

    /// The same of a list of deletions (`TombstoneList.definition`), whose own cursor has the given name. The next pull reads all
    /// records, since the other list may have named deletions that this one shows no more, or wrong ones.
    package func adoptDeletions(_ definition: String, of entity: String, cursor name: String) async throws {
        try await adopt(definition, as: "deletions:\(entity)") { db in
            let row = CursorRow(entity: entity, db: db)
            let watermark = try row.load().watermark
            try row.change { $0.forgetList() }
            try CursorRow(entity: name, db: db).change { deletions in
                deletions.forgetList()
                deletions.watermark = watermark
            }
        }
    }

    /// The same of what is fetched for each record (`PullPlan.detailDefinition`): all of them are outdated then.
    package func adoptDetails(_ definition: String, of entity: String) async throws {
        let table = try table(entity)
        try await adopt(definition, as: "details:\(entity)") { db in
            try db.execute(sql: "UPDATE \(table.name) SET _detail = NULL WHERE _detail IS NOT NULL")
            // What was wrong with the lists before. If the children have a list of their own, its next pull says so again.
            for detail in table.entity.pull?.details ?? [] { try Self.forgetListDrift(of: detail.entity, db) }
        }
    }

    /// Notes the definition, and calls `forget` if another one was noted before. Writes nothing when it is known.
    private func adopt(
        _ definition: String, as name: String, _ forget: @escaping @Sendable (Database) throws -> Void
    ) async throws {
        let known = try setting(name)
        guard known != definition else { return }
        try await writer.write { db in
            try SettingTable(db: db).set(name, to: definition)
            if known != nil { try forget(db) }
        }
    }

    /// Writes nothing when only the time of the last sync differs.
    package func setCursor(of entity: String, to cursor: PullCursor) async throws {
        try await writer.write { db in try CursorRow(entity: entity, db: db).save(cursor) }
    }
}

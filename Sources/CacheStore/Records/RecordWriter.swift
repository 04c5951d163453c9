internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import JSONText
internal import SQLiteStore

/// The only code that writes records of one entity, inside the caller's transaction.
///
/// It knows a row before and after each change, sets the columns whose fields changed, and notes what depends on them
/// (`RecordDependents`). A row that has neither a server version nor a queued change is no record; only `insert` leaves
/// one, for the caller to fill.
struct RecordWriter {
    let plan: RecordPlan
    let transaction: RecordTransaction

    var table: EntityTable { plan.table }
    var db: Database { transaction.db }
    /// For reading.
    var row: RecordRow { RecordRow(table: table, db: db) }

    /// What the server said besides the record.
    struct Origin {
        var at: Timestamp
        /// The server's own mark for this version of the record, if it sends one.
        var version: String?

        init(at now: Timestamp, version: String? = nil) {
            at = now
            self.version = version
        }
    }

    // MARK: Reading

    func image(of key: String) throws -> RecordImage? {
        try find(key) { row in
            let image = RecordImage(reading: row)
            transaction.bytesRead += image.size
            return image
        }
    }

    /// What `read` makes of the row: the columns of `RecordImage`, and the position of its last acknowledgement.
    func find<Result>(_ key: String, _ read: (OpaquePointer) throws -> Result) throws -> Result? {
        try transaction.with(plan.statements.find) { statement in
            try statement.bind(key, to: 1)
            return try statement.step() ? read(statement.handle) : nil
        }
    }

    /// The first rows after `pk`, in order of arrival: at most `limit`, fewer if they are large, none after the last
    /// row.
    func images(after pk: Int64, limit: Int) throws -> [RecordImage] {
        let statement = BoundStatement(
            try db.cachedStatement(
                sql: "SELECT \(RecordImage.columns) FROM \(table.name) WHERE _pk > ? ORDER BY _pk LIMIT \(limit)"))
        try statement.bind(pk, to: 1)
        return try statement.images().images
    }

    // MARK: Adding and removing

    /// Inserts the row of a record, with the server's version if it is known.
    func insert(_ key: String, remote: JSONText? = nil) throws {
        try insertUncounted(key, remote: remote)
        try transaction.indexInserted(table.entity)
        try tally(1)
    }

    /// The same for one of many, without counting and indexing it; nil when there is a record with this key already.
    /// `pk`: nil for the next one.
    @discardableResult
    func insertUncounted(
        _ key: String, remote: JSONText?, from origin: Origin? = nil, pk: Int64? = nil
    ) throws -> RecordImage? {
        if let remote { try transaction.plans.added.note(remote, db) }
        var image = RecordImage(key: key, remote: remote)
        let values = plan.values(in: remote)
        try prepare(for: values, values, of: image)
        try transaction.with(plan.statements.insert) { statement in
            try statement.bind(pk, to: 1)
            try statement.bind(key, to: 2)
            try statement.bind(remote, to: 3)
            try statement.bind(origin?.at.milliseconds, to: 4)
            try statement.bind(origin?.version, to: 5)
            for (index, field) in plan.columnFields.enumerated() {
                try statement.bind(ColumnValue(values[field.place], as: field.kind), to: Int32(index + 6))
            }
            try statement.run()
        }
        guard db.changesCount > 0 else { return nil }
        image.pk = db.lastInsertedRowID
        try dependents.noteInserted(image, values)
        return image
    }

    func delete(_ key: String) throws {
        guard let image = try image(of: key) else { return }
        try deleteUncounted(image)
        try tally(-1)
    }

    func deleteUncounted(_ image: RecordImage) throws {
        let shown = plan.values(in: image.shown)
        try dependents.noteSearched(image, shown, nil, ~0)
        if plan.entity.content != nil { try setContent(nil, address: nil, of: image.key) }
        try transaction.with(plan.statements.delete) { statement in
            try statement.bind(image.pk, to: 1)
            try statement.run()
        }
        try dependents.noteDeleted(image, shown, remote(image))
        try db.cachedStatement(sql: "DELETE FROM sync_view WHERE entity = ? AND record_key = ?")
            .execute(arguments: [plan.entity.name, image.key])
        // The key was this record's, so it must not lead to one that had it before.
        try KeyAlias.end(image.key, plan.entity.name, db)
    }

    /// Updates the count of the entity's rows.
    func tally(_ change: Int64) throws {
        guard change != 0 else { return }
        let statement = BoundStatement(
            try db.cachedStatement(sql: "UPDATE sync_tally SET count = count + ? WHERE name = ?"))
        try statement.bind(change, to: 1)
        try statement.bind("rows:\(table.entity.name)", to: 2)
        try statement.runOnce()
    }

    // MARK: Changing

    /// Writes what differs between two images of a row. With `origin`, the server has just said `new.remote`.
    func update(_ old: RecordImage, to new: RecordImage, from origin: Origin? = nil) throws {
        if let remote = new.remote, remote != old.remote { try transaction.plans.added.note(remote, db) }
        var new = new
        let (before, after) = plan.values(in: old.shown, and: new.shown, patch: new.patch(of: old))
        let remoteBefore = old.isPlain ? before : remote(old)
        let isSameThere = !new.isPlain && new.remote == old.remote
        let remoteAfter = new.isPlain ? after : isSameThere ? remoteBefore : remote(new)
        new.isDisplaced = plan.isDisplaced(new, after, remoteAfter)
        let changed = RecordPlan.differences(before, after)
        let change = RecordUpdate(old, new, origin, changed, plan)
        guard !change.isEmpty else { return }
        try prepare(for: after, remoteAfter, of: new)
        guard !transaction.isSilent else { return try change.run(after, transaction) }
        try dependents.noteSearched(old, before, new, changed)
        try change.run(after, transaction)
        let changedThere =
            old.isPlain && new.isPlain ? changed : isSameThere ? 0 : RecordPlan.differences(remoteBefore, remoteAfter)
        try dependents.noteUpdated(
            RecordDependents.Version(image: old, shown: before, remote: remoteBefore),
            RecordDependents.Version(image: new, shown: after, remote: remoteAfter), changed | changedThere)
    }

    /// `version` is the server's own mark for this version of the record, if it sends one.
    func setRemote(_ remote: JSONText?, version: String? = nil, of key: String, at now: Timestamp) throws {
        try change(key, from: Origin(at: now, version: version)) { $0.remote = remote }
    }

    /// Replaces the server's version by what it is assumed to be.
    func assumeRemote(_ remote: JSONText, of key: String) throws {
        try change(key) { $0.remote = remote }
    }

    func rename(_ old: String, to key: String) throws {
        try change(old) { $0.key = key }
    }

    func setDerived(_ derived: JSONText?, of key: String) throws {
        try change(key) { $0.derived = derived }
    }

    /// Does nothing without such a row.
    private func change(_ key: String, from origin: Origin? = nil, _ change: (inout RecordImage) -> Void) throws {
        guard let old = try image(of: key) else { return }
        var new = old
        change(&new)
        try update(old, to: new, from: origin)
    }

    /// Sets all columns of a row from its texts, and stores what readers see in as little as it takes. Changes nothing
    /// that readers see, so nothing is noted.
    func rewrite(_ old: RecordImage) throws {
        var new = old
        new.show(old.shown)
        let (after, there) = (plan.values(in: new.shown), remote(new))
        new.isDisplaced = plan.isDisplaced(new, after, there)
        try prepare(for: after, there, of: new)
        try RecordUpdate(old, new, nil, ~0, plan).run(after, transaction)
    }

    // MARK: Marks, on which nothing depends

    /// Remembers whether the server has deleted the record, and that is still to be merged with its queued changes.
    func mark(_ key: String, _ deletion: RecordRow.Deletion?) throws {
        try db.cachedStatement(sql: "UPDATE \(table.name) SET _gone = ?2 WHERE _key = ?1 AND _gone <> ?2")
            .execute(arguments: [key, deletion?.rawValue ?? 0])
    }

    /// Causes the record's single version, or its children, to be fetched again.
    func forgetFetched(_ key: String) throws {
        try db.cachedStatement(sql: "UPDATE \(table.name) SET _detail = NULL WHERE _key = ? AND _detail IS NOT NULL")
            .execute(arguments: [key])
    }

    /// Sets the record's content on the server, if it is stored here, and the address that it came from.
    func setContent(_ sha256: String?, address: String?, of key: String) throws {
        let old = try String.fetchOne(
            db.cachedStatement(sql: "SELECT _content FROM \(table.name) WHERE _key = ?"), arguments: [key])
        try db.cachedStatement(sql: "UPDATE \(table.name) SET _content = ?, _content_address = ? WHERE _key = ?")
            .execute(arguments: [sha256, address, key])
        guard old != sha256, db.changesCount > 0 else { return }
        try ContentTable(db: db).countRecords(old, -1)
        try ContentTable(db: db).countRecords(sha256, 1)
    }

    // MARK: Parts

    private var dependents: RecordDependents { RecordDependents(plan: plan, transaction: transaction) }

    private func remote(_ image: RecordImage) -> [JSONText?] { plan.values(in: image.remote) }

    /// What must be done before a row is written with these values of the watched fields. `remote`: the server's.
    private func prepare(for values: [JSONText?], _ remote: [JSONText?], of image: RecordImage) throws {
        let (longest, size) = (SecondaryIndexes.longest, image.size)
        if size > longest, plan.columnFields.contains(where: { values[$0.place]?.bytes.count ?? 0 > longest }) {
            try SecondaryIndexes(table: table, db: db).buildAll()
        }
        if size > RecordMark.largeSize { plan.marks.large.raise() }
        if plan.figures.contains(where: { remote[$0] == nil }) { plan.marks.unsaid?.raise() }
        try transaction.store(plan.marks.given)
        try transaction.store(plan.marks.unsaid)
        try transaction.store(plan.marks.large)
    }
}

internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import JSONText
internal import SQLiteStore

/// Writes one page of records into an entity's table, inside the caller's transaction.
///
/// A record that the cache has byte for byte (most of a list that is read again) costs a look-up by its key.
struct PageApplier {
    /// What a page is measured against.
    struct Bounds {
        /// The end of the change log when the page was requested.
        var position: Int64 = .max
        /// The change time that an earlier pull had reached; a record from before it is late.
        var watermark: Timestamp?
        /// No record of the page can be in the cache, unless the server sends it twice.
        var isNew = false
        /// More pages follow.
        var hasMore = false
        /// In which kind of answer the records came.
        var view = RecordView.list
    }

    let table: EntityTable
    let context: WriteContext

    var db: Database { context.db }
    private var entity: Entity { table.entity }
    private var now: Timestamp { context.now }
    private var row: RecordRow { context.row(table) }
    private var writer: RecordWriter { context.writer(table) }
    private var merge: Merge { Merge(table: table, context: context) }

    /// `clear`: the same records before their secrets were sealed.
    func apply(_ page: IncomingPage, clear: IncomingPage, _ bounds: Bounds) throws -> PageOutcome {
        var outcome = PageOutcome(records: page.records.count)
        var written = Written(greatestPK: try greatestPK())
        if bounds.isNew, bounds.hasMore, written.greatestPK == 0 {
            try SecondaryIndexes(table: table, db: db).postpone()
        }
        var times = ChangeTimes(at: now)
        var arrivals = try Arrivals(table, context, bounds.view, position: bounds.position)
        var tombstones: [String] = []
        context.records.isQueueKnownEmpty = try context.records.isQueueEmpty()
        defer { context.records.isQueueKnownEmpty = nil }
        for (index, record) in page.records.enumerated() {
            guard let key = record.key else {
                outcome.setAside += 1
                try setAside(record.text)
                continue
            }
            if let changed = record.changed { times.insert(changed) }
            if record.isDeleted {
                try written.note(known: writer.image(of: key)?.pk)
                if try !arrivals.isStale(tombstone: record.text, of: key) { tombstones.append(key) }
            } else if try !arrivals.isDeleted(key) {
                try write(record, key, index, bounds, &arrivals, &written)
            }
        }
        context.records.isQueueKnownEmpty = nil
        times.finish()
        outcome.add(written, times)
        outcome.hadBefore = outcome.records - outcome.setAside - tombstones.count - written.inserted
        try finish(written, clear)
        outcome.deleted = try delete(keys: tombstones)
        return outcome
    }

    /// What the records of a page did to the table.
    struct Written {
        /// Before the page.
        let greatestPK: Int64
        /// New or changed records, by their place in the page.
        var places: [Int] = []
        var keys: [String] = []
        /// Of these, records with queued changes.
        var changedHere: [String] = []
        var inserted = 0
        /// The `_pk`s of the page's records that were cached before.
        var known: [Int64] = []
        var lateness: Int64 = 0

        mutating func note(known pk: Int64?) {
            if let pk, pk <= greatestPK { known.append(pk) }
        }
    }

    private func write(
        _ record: IncomingPage.Record, _ key: String, _ index: Int, _ bounds: Bounds, _ arrivals: inout Arrivals,
        _ written: inout Written
    ) throws {
        let origin = RecordWriter.Origin(at: now)
        if bounds.isNew, try writer.insertUncounted(key, remote: record.text, from: origin) != nil {
            written.lateness = max(written.lateness, lateness(record, nil, bounds.watermark))
            written.inserted += 1
        } else if let (known, acknowledged) = try look(for: key, record.text) {
            guard let known else {
                try arrivals.confirm(key)
                return written.note(known: acknowledged)
            }
            written.note(known: known.pk)
            written.lateness = max(written.lateness, lateness(record, known.remote, bounds.watermark))
            // A change that was acknowledged after the page was requested is newer than the page.
            guard acknowledged <= bounds.position, let news = try arrivals.news(record.text, of: known) else { return }
            var new = known
            new.remote = news.remote
            try writer.update(known, to: new, from: origin)
            if known.local != nil {
                try merge.adopt(news.added, of: key)
                written.changedHere.append(key)
            }
        } else {
            written.lateness = max(written.lateness, lateness(record, nil, bounds.watermark))
            _ = try writer.insertUncounted(key, remote: record.text, from: origin)
            try arrivals.noteInserted(record.text, of: key)
            written.inserted += 1
        }
        written.places.append(index)
        written.keys.append(key)
    }

    /// The cached record and the position of its last acknowledgement. For a record that is the same byte for byte: nil
    /// and its `_pk`.
    private func look(for key: String, _ text: JSONText) throws -> (known: RecordImage?, number: Int64)? {
        try writer.find(key) { row in
            if text.isStored(in: RecordImage.remoteColumn, of: row) { return (nil, sqlite3_column_int64(row, 0)) }
            return (RecordImage(reading: row), sqlite3_column_int64(row, RecordImage.columnCount))
        }
    }

    private func finish(_ written: Written, _ clear: IncomingPage) throws {
        if !written.keys.isEmpty {
            try DriftTable(table: table, db: db, now: now).count(clear.text(of: written.places), written: written.keys)
        }
        try SearchIndex.noteInserted(entity, db)
        for key in written.changedHere { try merge.mergeRemote(of: key) }
        try writer.tally(Int64(written.inserted))
        try context.log.append(.upserted, entity: entity.name, keys: written.keys)
    }

    // MARK: What came

    /// Keeps the text of a record without a usable key, so that it is counted once. A null says nothing.
    private func setAside(_ record: JSONText) throws {
        guard record.kind != .null else { return }
        // If there are secrets, a value that is no record could be one.
        let isHidden = table.hasSecrets && record.kind != .object
        let text = isHidden ? "…" : context.sealers[entity.name].remove(from: record).plain
        try db.cachedStatement(
            sql: "INSERT INTO sync_set_aside (entity, record, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        ).execute(arguments: [entity.name, String(text.prefix(4096)), now.milliseconds])
    }

    // MARK: Deleting

    /// Deletes records and everything that the schema cascades to. A record with queued changes becomes a conflict.
    func delete(keys: [String]) throws -> Int {
        guard !keys.isEmpty else { return 0 }
        var gone: [String] = []
        var changedHere: [String] = []
        for key in keys {
            guard let image = try writer.image(of: key) else { continue }
            if image.local == nil {
                try writer.deleteUncounted(image)
                gone.append(key)
            } else {
                changedHere.append(key)
            }
        }
        for key in changedHere { try merge.mergeDeletion(of: key) }
        try writer.tally(-Int64(gone.count))
        gone += try changedHere.filter { try !row.exists($0) }
        try context.log.append(.deleted, entity: entity.name, keys: gone)
        // Also for records that are kept for a local change: the server deleted their children all the same.
        try applyDeleteRules(of: keys)
        return gone.count
    }

    func greatestPK() throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(_pk) FROM \(table.name)")) ?? 0
    }
}

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
        /// The server's time; a later change time is not believed.
        var serverNow: Timestamp?
        /// The most records that tombstones of the page may delete; with more, none is deleted.
        var tombstones = Int.max
        /// A tombstone that cannot be compared with the record's change time is held.
        var holdsUndated = false
        /// In which kind of answer the records came.
        var view = RecordView.list
        /// Only what changed since a token.
        var isDelta = false
        /// Notes when an older version than the cached one comes.
        var notesOverwritten = false
        /// The upstream shows what is on the page only once.
        var isShownOnce = false
    }

    let table: EntityTable
    let context: WriteContext

    var db: Database { context.db }
    var entity: Entity { table.entity }
    var now: Timestamp { context.now }
    /// What changed since a token comes with its changed members alone.
    private var isPartial: Bool { entity.pull?.deltaToken?.isPartial ?? false }
    var row: RecordRow { context.row(table) }
    var writer: RecordWriter { context.writer(table) }
    private var merge: Merge { Merge(table: table, context: context) }
    var deletion: RecordDeletion { RecordDeletion(table: table, context: context) }

    /// `clear`: the same records before their secrets were sealed.
    func apply(_ page: IncomingPage, clear: IncomingPage, _ bounds: Bounds) throws -> PageOutcome {
        var progress = Progress(
            bounds: bounds, outcome: PageOutcome(records: page.records.count),
            written: Written(greatestPK: try greatestPK()),
            times: ChangeTimes(
                upTo: bounds.serverNow ?? now + Self.clockAllowance, clock: entity.pull?.clock ?? .zero),
            arrivals: try Arrivals(
                table, context, bounds.view, position: bounds.position, isPartial: bounds.isDelta && isPartial),
            repeated: RepeatedRecords(page.records, isPartial: bounds.isDelta && isPartial, time: time),
            aside: SetAsideTable(entity: entity.name, db: db, now: now))
        if bounds.isNew, bounds.hasMore, progress.written.greatestPK == 0 {
            try SecondaryIndexes(table: table, db: db).postpone()
        }
        try apply(page.records, &progress)
        progress.times.finish()
        let written = progress.written
        var outcome = progress.outcome
        outcome.shown = page.shown
        outcome.add(written, progress.times)
        outcome.hadBefore =
            outcome.records - outcome.setAside - outcome.outside - progress.marked - written.inserted
        try finish(written, clear)
        if progress.tombstones.count > bounds.tombstones {
            outcome.heldTombstones += progress.tombstones
        } else {
            outcome.deleted = try deletion.delete(keys: progress.tombstones)
        }
        return outcome
    }

    /// What has been done with a page so far.
    private struct Progress {
        let bounds: Bounds
        var outcome: PageOutcome
        var written: Written
        var times: ChangeTimes
        var arrivals: Arrivals
        var repeated: RepeatedRecords
        var aside: SetAsideTable
        /// The keys of records to delete.
        var tombstones: [String] = []
        /// Records that are marked as deleted.
        var marked = 0
        var ties: WindowTies?
    }

    private func apply(_ records: [IncomingPage.Record], _ progress: inout Progress) throws {
        context.records.isQueueKnownEmpty = try context.records.isQueueEmpty()
        defer { context.records.isQueueKnownEmpty = nil }
        for (index, record) in records.enumerated() {
            guard let key = record.key else {
                progress.outcome.setAside += 1
                try setAside(record.text, in: &progress.aside)
                guard let key = record.unreadableKey else {
                    progress.outcome.nameless += 1
                    continue
                }
                // It is listed, so it was not deleted.
                try progress.written.note(known: writer.image(of: key)?.pk)
                continue
            }
            if let changed = record.changed { progress.times.insert(changed) }
            if record.isDeleted {
                try take(tombstone: record, key, index, &progress)
            } else if try !progress.arrivals.isDeleted(record.text, key, isOutside: record.isOutside) {
                if record.isOutside, progress.bounds.view == .list, try !isWanted(key, &progress.ties) {
                    progress.outcome.outside += 1
                } else {
                    try write(record, key, index, &progress)
                }
            }
        }
    }

    private func take(
        tombstone: IncomingPage.Record, _ key: String, _ index: Int, _ progress: inout Progress
    ) throws {
        progress.marked += 1
        guard let (known, acknowledged) = try lookForDeleted(key) else { return }
        progress.written.note(known: known.pk)
        guard !progress.repeated.isReplaced(key, at: index) else { return }
        guard try !isOvertaken(key, acknowledged, &progress), !isStale(tombstone, known),
            try !progress.arrivals.isStale(tombstone: tombstone.text, of: key)
        else { return }
        if progress.bounds.holdsUndated, !isComparable(tombstone, known) {
            progress.outcome.heldTombstones.append(key)
        } else {
            progress.tombstones.append(key)
        }
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
        /// As `PageOutcome.overwritten`.
        var overwritten: Timestamp?

        mutating func note(known pk: Int64?) { if let pk, pk <= greatestPK { known.append(pk) } }

        mutating func note(lateness new: Int64) { lateness = max(lateness, new) }

        mutating func note(overwritten time: Timestamp?) {
            overwritten = [overwritten, time].compactMap(\.self).min()
        }

        mutating func noteInserted(lateness: Int64) {
            note(lateness: lateness)
            inserted += 1
        }
    }

    /// Whether a record outside of the window is in the cache, or a kept record refers to it.
    private func isWanted(_ key: String, _ ties: inout WindowTies?) throws -> Bool {
        if try row.exists(key) { return true }
        let known = ties ?? WindowTies(of: entity, in: context.schema)
        ties = known
        return try known.isReferenced(key, db)
    }

    private func write(
        _ record: IncomingPage.Record, _ key: String, _ index: Int, _ progress: inout Progress
    ) throws {
        let isInserted = try progress.bounds.isNew && insert(record, key, &progress)
        guard try isInserted || store(record, key, index, &progress) else { return }
        progress.written.places.append(index)
        progress.written.keys.append(key)
    }

    /// False if there is such a record already.
    private func insert(_ record: IncomingPage.Record, _ key: String, _ progress: inout Progress) throws -> Bool {
        let pk = try firstPK(of: progress.written)
        guard try writer.insertUncounted(key, remote: record.text, from: RecordWriter.Origin(at: now), pk: pk) != nil
        else { return false }
        progress.written.noteInserted(lateness: lateness(record, nil, progress.bounds.watermark))
        return true
    }

    /// Writes a record that may be in the cache. False if that stays as it is.
    private func store(
        _ record: IncomingPage.Record, _ key: String, _ index: Int, _ progress: inout Progress
    ) throws -> Bool {
        switch try look(for: key, record.text) {
        case .same(let pk):
            try progress.arrivals.confirm(key)
            progress.written.note(known: pk)
            return false
        case .other(let known, _) where progress.repeated.isReplaced(key, at: index):
            progress.written.note(known: known.pk)
            return false
        case .other(let known, let acknowledged):
            return try update(known, acknowledged, to: record, &progress)
        case nil:
            _ = try insert(record, key, &progress)
            try progress.arrivals.noteInserted(record.text, of: key)
            // It may have been deleted since the request, and a list with a token may not report that again.
            if progress.bounds.view == .single, entity.pull?.deltaToken != nil { try progress.arrivals.doubt(key) }
            return true
        }
    }

    /// False if the cached record stays as it is: the page may be older, or shows nothing new.
    private func update(
        _ known: RecordImage, _ acknowledged: Int64, to record: IncomingPage.Record, _ progress: inout Progress
    ) throws -> Bool {
        let (bounds, key) = (progress.bounds, known.key)
        progress.written.note(known: known.pk)
        progress.written.note(lateness: lateness(record, known.remote, bounds.watermark))
        if bounds.isDelta, !isPartial, let before = known.remote {
            try DriftTable(table: table, db: db, now: now).countLacking(record.text, before, key: key)
        }
        guard try !isOvertaken(key, acknowledged, &progress),
            try !progress.arrivals.isLate(record.text, of: known),
            let news = try progress.arrivals.news(record.text, of: known)
        else { return false }
        var new = known
        new.remote = news.remote
        try writer.update(known, to: new, from: RecordWriter.Origin(at: now))
        if bounds.notesOverwritten { progress.written.note(overwritten: laterTime(of: known.remote, than: record)) }
        if known.local != nil {
            try merge.adopt(news.added, of: key)
            progress.written.changedHere.append(key)
        }
        return true
    }

    /// The `_pk` of the first record that a page inserts, where the next free one is not the right one: that of a deleted
    /// record would say that the new one was known before an attempt.
    private func firstPK(of written: Written) throws -> Int64? {
        guard written.inserted == 0, try !context.records.isQueueEmpty(),
            let noted = try context.queue.greatestKnownPK(of: entity.name), noted > written.greatestPK, noted < .max
        else { return nil }
        return noted + 1
    }

    /// What the cache has of a record.
    private enum Cached {
        /// The same byte for byte.
        case same(pk: Int64)
        /// With the position of its last acknowledgement.
        case other(RecordImage, acknowledged: Int64)
    }

    private func look(for key: String, _ text: JSONText) throws -> Cached? {
        try writer.find(key) { row in
            if text.isStored(in: RecordImage.remoteColumn, of: row) { return .same(pk: sqlite3_column_int64(row, 0)) }
            return .other(
                RecordImage(reading: row), acknowledged: sqlite3_column_int64(row, RecordImage.columnCount))
        }
    }

    private static let clockAllowance = Duration.seconds(300)

    /// A record with a tombstone, and the position of its last acknowledgement; nil if the server has none here.
    private func lookForDeleted(_ key: String) throws -> (known: RecordImage, acknowledged: Int64)? {
        let found = try writer.find(key) { row in
            (RecordImage(reading: row), sqlite3_column_int64(row, RecordImage.columnCount))
        }
        return found.flatMap { $0.0.remote == nil ? nil : $0 }
    }

    /// Whether a change of the record was acknowledged after the page was requested, so that the page may be older. It
    /// may also be newer; if the server shows it only once, the record is read by its key later.
    private func isOvertaken(_ key: String, _ acknowledged: Int64, _ progress: inout Progress) throws -> Bool {
        guard acknowledged > progress.bounds.position else { return false }
        if progress.bounds.isShownOnce { try progress.arrivals.doubt(key) }
        return true
    }

    /// Whether a tombstone is older than the record: the record was created again since.
    private func isStale(_ tombstone: IncomingPage.Record, _ known: RecordImage) -> Bool {
        guard let created = known.remote.flatMap(entity.changeTime), let deleted = time(of: tombstone) else {
            return false
        }
        return deleted.isSurely(before: created)
    }

    /// When the record was changed or deleted; nil if that is not known well enough.
    private func time(of record: IncomingPage.Record) -> Timestamp? {
        [record.changed, entity.pull?.deleted.flatMap { record.text[$0.name] }].compactMap { time in
            // A day without a time says too little.
            time.flatMap { $0.kind == .string && $0.plain.utf8.count <= 10 ? nil : entity.instant($0) }
        }.max()
    }

    private func isComparable(_ tombstone: IncomingPage.Record, _ known: RecordImage) -> Bool {
        time(of: tombstone) != nil && known.remote.flatMap(entity.changeTime) != nil
    }

    private func finish(_ written: Written, _ clear: IncomingPage) throws {
        if !written.keys.isEmpty {
            try DriftTable(table: table, db: db, now: now).count(clear.text(of: written.places), written: written.keys)
        }
        try context.records.indexInserted(entity)
        for key in written.changedHere { try merge.mergeRemote(of: key) }
        try writer.tally(Int64(written.inserted))
        try context.log.append(.upserted, entity: entity.name, keys: written.keys)
    }

    // MARK: What came

    /// Keeps the text of a record without a usable key, so that it is counted once. A null says nothing.
    private func setAside(_ record: JSONText, in aside: inout SetAsideTable) throws {
        guard record.kind != .null else { return }
        // If there are secrets, a value that is no record could be one.
        let isHidden = table.isSealed && record.kind != .object
        try aside.insert(isHidden ? "…" : context.sealers[entity.name].withoutSealed(record).plain)
    }

    func greatestPK() throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(_pk) FROM \(table.name)")) ?? 0
    }
}

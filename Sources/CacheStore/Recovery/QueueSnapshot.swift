internal import EntitySchema
internal import GRDB
internal import JSONText

/// The readable part of a database file's queue.
///
/// From a sound file that is everything; from a damaged one, whatever can be reached record by record.
struct QueueSnapshot {
    /// The queue, oldest first.
    var changes: [ExportedChange] = []
    /// Whether these are all changes that the file had.
    var isComplete = false
    /// The greatest id that a change has had.
    var lastID: Int64 = 0
    var settings: [String: String] = [:]
    /// Rows of other tables that no pull restores, by table.
    var rows: [String: [Row]] = [:]
    private(set) var local = LocalRecords()
    /// Changes that have left the queue, according to the change log.
    private(set) var ended: Set<Int64> = []
    /// Those of them that were merged into another change, with its id.
    private(set) var carriers: [Int64: Int64] = [:]
    /// Changes with an attempt in the change log.
    private(set) var sent: Set<Int64> = []
    /// When each change in the change log was made.
    private(set) var begun: [Int64: Int64] = [:]
    /// When the change log begins; nil if it cannot be read completely.
    private(set) var logBegins: Int64?

    /// Tables that are copied row by row: old keys, answers to repeatable calls, decided conflicts, known imports.
    static let kept = ["sync_alias", "sync_answer", "sync_conflict", "sync_carried"]

    init() {}

    init(_ db: Database) {
        var isSound = true
        let isWhole = DamagedTable(name: "sync_outbox", key: "id", db: db).forEachRow { row in
            guard let change = try? ExportedChange(row: row), change.isSound else { return isSound = false }
            changes.append(change)
        }
        changes.sort { $0.id < $1.id }
        isComplete = isWhole && isSound
        lastID = max(Self.lastID(db), changes.last?.id ?? 0)
        settings = Self.settings(db)
        local = LocalRecords(db, settings: settings)
        for table in Self.kept {
            var found: [Row] = []
            _ = DamagedTable(name: table, key: nil, db: db).forEachRow { row in
                if table != "sync_conflict" || Self.isSound(conflict: row) { found.append(row.copy()) }
            }
            rows[table] = found
        }
        readContents(db)
        readLog(db)
        readRecords(db)
        readConflicts()
    }

    /// Whether the values of a conflict are JSON: every list of conflicts would fail at one that is not.
    private static func isSound(conflict row: Row) -> Bool {
        row.allSatisfy { name, value in
            !["base", "local", "server"].contains(name) || value.isNull
                || String.fromDatabaseValue(value).map(ExportedChange.isJSON) ?? false
        }
    }

    /// Empty if they cannot be read completely. Without those whose name or value is no text.
    static func settings(_ db: Database) -> [String: String] {
        var settings: [String: String] = [:]
        for row in (try? Row.fetchAll(db, sql: "SELECT name, value FROM sync_setting LIMIT \(SettingTable.most)")) ?? []
        {
            if let name: String = row.readable("name") { settings[name] = row.readable("value") }
        }
        return settings
    }

    /// The greatest id that a change has had, according to the log, or in older files to SQLite's table of sequences.
    private static func lastID(_ db: Database) -> Int64 {
        let sources = [
            "SELECT \(ChangeLog.lastChange)", "SELECT seq FROM sqlite_sequence WHERE name = 'sync_outbox'",
        ]
        return sources.compactMap { sql in try? Int64.fetchOne(db, sql: sql) }.max() ?? 0
    }

    private mutating func readContents(_ db: Database) {
        for index in changes.indices {
            guard let name = changes[index].content, let content = try? ContentTable(db: db).content(name) else {
                continue
            }
            changes[index].contentSize = content.size
            changes[index].contentType = content.type
        }
    }

    private mutating func readLog(_ db: Database) {
        let isWhole = DamagedTable(name: "sync_change_log", key: "seq", db: db).forEachRow(
            where: "change_id IS NOT NULL"
        ) { row in
            if let id: Int64 = row["change_id"], let at: Int64 = row["at"], let kind: String = row["kind"] {
                noteStep(of: id, at, kind, detail: row["detail"])
            }
        }
        lastID = max(lastID, begun.keys.max() ?? 0)
        guard isWhole else { return }
        logBegins = (try? Int64.fetchOne(db, sql: "SELECT at FROM sync_change_log ORDER BY seq LIMIT 1")) ?? nil
    }

    /// Takes in a change log entry of a change.
    mutating func noteStep(of id: Int64, _ at: Int64, _ kind: String, detail: String?) {
        let detail = detail.flatMap { try? JSONText(parsing: $0) }
        // An imported change is older than its first entry here.
        let made = detail?["created_at"]?.integer.map { Int64($0) } ?? at
        begun[id] = min(begun[id] ?? made, made)
        switch ChangeLogKind(rawValue: kind) {
        case .acknowledged, .discarded:
            ended.insert(id)
            carriers[id] = detail?[ChangeLog.carrier]?.integer.map { Int64($0) }
        case .uploading: sent.insert(id)
        default: break
        }
    }

    mutating func readRecords(_ db: Database) {
        for index in changes.indices where changes[index].record == nil {
            let change = changes[index]
            let table = EntityTable.name(of: change.entity)
            let record = try? String.fetchOne(
                db, sql: "SELECT _remote FROM \(table) WHERE _key = ?", arguments: [change.recordKey])
            changes[index].record = record.flatMap { ExportedChange.isJSON($0) ? $0 : nil }
        }
    }

    /// Takes the records and contents of the same changes from another reading.
    mutating func takeRecords(from other: QueueSnapshot?) {
        guard let other else { return }
        let known = KnownChanges(other.changes)
        for index in changes.indices {
            guard let place = known.index(of: changes[index]) else { continue }
            let same = other.changes[place]
            changes[index].record = same.record
            changes[index].contentSize = same.contentSize
            changes[index].contentType = same.contentType
        }
    }

    private mutating func readConflicts() {
        let open = (rows["sync_conflict"] ?? []).filter(Self.isOpen)
        let conflicts = Dictionary(grouping: open.compactMap { try? ExportedConflict(row: $0) }, by: \.changeId)
        for index in changes.indices {
            if let own = conflicts[changes[index].id] { changes[index].conflicts = own }
        }
        rows["sync_conflict"]?.removeAll(where: Self.isOpen)
    }

    private static func isOpen(conflict row: Row) -> Bool { (row["winner"] as DatabaseValue).isNull }

    /// Changes that are unsent according to the log but could not be read.
    var lost: [Int64] { Set(begun.keys).subtracting(ended).subtracting(changes.map(\.id)).sorted() }

    // MARK: Merging with an older reading

    /// Whether this reading shows that a change in an older one has been acknowledged or discarded since.
    func hasEnded(_ change: ExportedChange) -> Bool {
        if ended.contains(change.id), begun[change.id].map({ $0 == change.createdAt }) ?? true { return true }
        guard isComplete, change.id <= lastID else { return false }
        // If the log goes back that far and has another change with this id, or none, it belongs to another history.
        if let logBegins, logBegins <= change.createdAt { return begun[change.id] == change.createdAt }
        return true
    }

    /// What `hasEnded` and `isUnsent` need, without the queue, which can be large.
    var withoutQueue: QueueSnapshot {
        var rest = self
        rest.changes = []
        rest.rows = [:]
        rest.local = LocalRecords()
        return rest
    }

    /// Takes what only an older reading has; `newer` are all readings before that one. Returns how many of the changes
    /// may have reached the upstream since.
    mutating func add(_ older: QueueSnapshot, knownBy newer: [QueueSnapshot]) -> Int {
        let added = missing(of: older, newer).map { change in
            newer.contains { $0.isUnsent(change) } ? change : change.uncertain
        }
        changes = (changes + added).sorted { $0.id < $1.id }
        lastID = max(lastID, older.lastID)
        settings.merge(older.settings) { mine, _ in mine }
        local.merge(older.local)
        for (table, found) in older.rows where rows[table]?.isEmpty ?? true { rows[table] = found }
        return added.count { $0.tried > 0 }
    }

    /// The changes of an older reading that are not here and have not ended since. One that was merged into another since
    /// has not if the older reading alone has the other: without it.
    private func missing(of older: QueueSnapshot, _ newer: [QueueSnapshot]) -> [ExportedChange] {
        let known = KnownChanges(changes)
        var missing: [ExportedChange] = []
        var ids: Set<Int64> = []
        // A change is only merged into an older one, which comes first.
        for change in older.changes where known.index(of: change) == nil {
            let isCarrierMissing = newer.contains { $0.carriers[change.id].map(ids.contains) ?? false }
            guard isCarrierMissing || !newer.contains(where: { $0.hasEnded(change) }) else { continue }
            missing.append(change)
            ids.insert(change.id)
        }
        return missing
    }

    /// Whether the log is complete and has the change, but no attempt to send it.
    private func isUnsent(_ change: ExportedChange) -> Bool {
        logBegins != nil && begun[change.id] == change.createdAt && !sent.contains(change.id)
    }
}

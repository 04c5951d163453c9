internal import EntitySchema
internal import GRDB
internal import JSONText

/// What a database file tells of its queue, as far as it can be read.
///
/// From a sound file that is everything; from a damaged one whatever can be reached record by record.
struct QueueSnapshot {
    /// The queue, oldest first.
    var changes: [ExportedChange] = []
    /// Whether these are all that the file had.
    var isComplete = false
    /// The greatest id that a change has had.
    var lastID: Int64 = 0
    var settings: [String: String] = [:]
    /// Rows of other tables that no pull brings back, by table.
    var rows: [String: [Row]] = [:]
    private(set) var local = LocalRecords()
    /// Changes that have left the queue, as the change log tells.
    private(set) var ended: Set<Int64> = []
    /// Changes of which the log knows an attempt.
    private(set) var sent: Set<Int64> = []
    /// When each change was made that the change log knows.
    private(set) var begun: [Int64: Int64] = [:]
    /// When the change log begins; nil where it cannot be read to its end.
    private(set) var logBegins: Int64?

    /// Tables that are carried over row by row: former keys, what repeated calls are answered, decided conflicts, what
    /// came from elsewhere.
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
        let sequence = try? Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'sync_outbox'")
        lastID = max(sequence ?? 0, changes.last?.id ?? 0)
        for row in (try? Row.fetchAll(db, sql: "SELECT name, value FROM sync_setting")) ?? [] {
            settings[row[0]] = row[1]
        }
        local = LocalRecords(db, settings: settings)
        for table in Self.kept {
            var found: [Row] = []
            _ = DamagedTable(name: table, key: nil, db: db).forEachRow { found.append($0.copy()) }
            rows[table] = found
        }
        readContents(db)
        readLog(db)
        readRecords(db)
        readConflicts()
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
        guard isWhole else { return }
        logBegins = (try? Int64.fetchOne(db, sql: "SELECT at FROM sync_change_log ORDER BY seq LIMIT 1")) ?? nil
    }

    /// What an entry of the change log says of a change.
    mutating func noteStep(of id: Int64, _ at: Int64, _ kind: String, detail: String?) {
        let detail = detail.flatMap { try? JSONText(parsing: $0) }
        // A change that was carried over is older than its first entry here.
        let made = detail?["created_at"]?.integer.map { Int64($0) } ?? at
        begun[id] = min(begun[id] ?? made, made)
        switch ChangeLogKind(rawValue: kind) {
        case .acknowledged, .discarded: ended.insert(id)
        case .uploading: sent.insert(id)
        default: break
        }
    }

    mutating func readRecords(_ db: Database) {
        for index in changes.indices where changes[index].record == nil {
            let change = changes[index]
            let table = EntityTable.name(of: change.entity)
            changes[index].record = try? String.fetchOne(
                db, sql: "SELECT _remote FROM \(table) WHERE _key = ?", arguments: [change.recordKey])
        }
    }

    /// What another reading knows of the records and contents of the same changes.
    mutating func takeRecords(from other: QueueSnapshot?) {
        for index in changes.indices {
            guard let same = other?.changes.first(where: { $0.isSame(as: changes[index]) }) else { continue }
            changes[index].record = same.record
            changes[index].contentSize = same.contentSize
            changes[index].contentType = same.contentType
        }
    }

    private mutating func readConflicts() {
        let open = (rows["sync_conflict"] ?? []).filter { $0["winner"] as String? == nil }
        let conflicts = open.compactMap { try? ExportedConflict(row: $0) }
        for index in changes.indices {
            let own = conflicts.filter { $0.changeId == changes[index].id }
            if !own.isEmpty { changes[index].conflicts = own }
        }
        rows["sync_conflict"]?.removeAll { $0["winner"] as String? == nil }
    }

    /// Changes that the log knows as unsent and that could not be read.
    var lost: [Int64] {
        Set(begun.keys).subtracting(ended).subtracting(changes.map(\.id)).sorted()
    }

    // MARK: Beside an older reading

    /// Whether this reading tells that a change which an older one still has was acknowledged or discarded since.
    func hasEnded(_ change: ExportedChange) -> Bool {
        if ended.contains(change.id), begun[change.id].map({ $0 == change.createdAt }) ?? true { return true }
        guard isComplete, change.id <= lastID else { return false }
        // A log that goes back that far and has another change of this number, or none, is of another history.
        if let logBegins, logBegins <= change.createdAt { return begun[change.id] == change.createdAt }
        return true
    }

    /// What several sources have together, the newest first, and how many changes of the older ones may have reached the
    /// upstream since.
    static func merged(_ sources: [QueueSnapshot]) -> (queue: QueueSnapshot, uncertain: Int) {
        var queue = sources.first ?? QueueSnapshot()
        var uncertain = 0
        for (index, older) in sources.enumerated().dropFirst() {
            uncertain += queue.add(older, knownBy: Array(sources[..<index]))
        }
        return (queue, uncertain)
    }

    private mutating func add(_ older: QueueSnapshot, knownBy newer: [QueueSnapshot]) -> Int {
        let missing = older.changes.filter { change in
            !changes.contains { $0.isSame(as: change) } && !newer.contains { $0.hasEnded(change) }
        }
        let added = missing.map { change in
            newer.contains { $0.isUnsent(change) } ? change : change.uncertain
        }
        changes = (changes + added).sorted { $0.id < $1.id }
        lastID = max(lastID, older.lastID)
        settings.merge(older.settings) { mine, _ in mine }
        local.merge(older.local)
        for (table, found) in older.rows where rows[table]?.isEmpty ?? true { rows[table] = found }
        return added.count { $0.tried > 0 }
    }

    /// Whether the log, which is whole, knows the change and no attempt to send it.
    private func isUnsent(_ change: ExportedChange) -> Bool {
        logBegins != nil && begun[change.id] == change.createdAt && !sent.contains(change.id)
    }
}

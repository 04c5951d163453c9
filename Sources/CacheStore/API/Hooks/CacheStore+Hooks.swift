package import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// Hooks: which event is next for each, what became of it, and what people decide about them.
extension CacheStore {
    /// The most numbers of the change log that one search covers.
    private static let searched: Int64 = 10_000
    private static let reachable = "reachable"

    /// Call this before anyone can write. A hook that is new starts at the present end of the change log; one that
    /// the configuration no longer has is forgotten.
    package func startHooks() async throws {
        let names = hooks.map(\.name)
        guard try Set(hookStates().map(\.name)) != Set(names) else { return }
        try await writer.write { [hooks] db in
            let table = HookTable(db: db)
            let remindsNow = try hooks.contains(.reminders) && table.state(HookRule.reminders.name) == nil
            try table.start(names, at: Self.logEnd(db))
            if remindsNow { try Self.remindAgain(db) }
        }
    }

    /// In the order of their names; only those that have been started.
    package func hookStates() throws -> [HookState] { try read { db in try HookTable(db: db).all() } }

    /// Nil if no such hook has been started.
    package func hookState(_ name: String) throws -> HookState? {
        try read { db in try HookTable(db: db).state(name) }
    }

    /// The oldest ones.
    package func parkedDeliveries(_ name: String, limit: Int) throws -> [ParkedDelivery] {
        try read { db in try HookTable(db: db).parked(name, limit: limit) }
    }

    // MARK: The next event

    /// The first event after number `position` that the hook gets. Where entries after `position` are gone, that is
    /// `missed`.
    package func nextOccurrence(for rule: HookRule, after position: Int64, at now: Timestamp) throws -> HookScan {
        try snapshot { db in try Self.nextOccurrence(for: rule, after: position, at: now, db) }
    }

    static func nextOccurrence(
        for rule: HookRule, after position: Int64, at now: Timestamp, _ db: Database
    ) throws -> HookScan {
        let floor = try logFloor(db)
        guard position >= floor else {
            let missed = HookOccurrence(event: .missed, seq: floor, at: now, missedFrom: position + 1)
            return HookScan(occurrence: missed, position: floor, hasMore: true)
        }
        let end = try logEnd(db)
        // From the next entry on: the log of a changed backup can lack more numbers than a search ever comes through.
        let next = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT min(seq) FROM sync_change_log WHERE seq > ?"), arguments: [position])
        let (searchEnd, isBeyond) = (next ?? end).addingReportingOverflow(searched)
        let last = isBeyond ? end : min(end, searchEnd)
        guard position < last, let row = try row(for: rule, after: position, through: last, db) else {
            return HookScan(occurrence: nil, position: max(position, last), hasMore: last < end)
        }
        return HookScan(occurrence: try occurrence(row), position: row["seq"], hasMore: true)
    }

    private static func row(
        for rule: HookRule, after position: Int64, through last: Int64, _ db: Database
    ) throws -> Row? {
        try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT seq, at, kind, entity, keys, change_id, detail FROM sync_change_log
                    WHERE seq > ?1 AND seq <= ?2 AND (
                      kind = 'hook' AND EXISTS (SELECT 1 FROM json_each(detail, '$.hooks') WHERE value = ?3)
                      OR ?4 AND kind = 'failed' AND entity = ?6
                      OR ?5 AND kind = 'conflict' AND detail ->> '$.reason' = 'found' AND entity = ?6
                      OR ?7 AND kind = 'reminder' AND EXISTS (
                        SELECT 1 FROM sync_reminder
                        WHERE id = detail ->> '$.reminder.id' AND state = 'due' AND withdrawn = 0
                          AND next_at = sync_change_log.at))
                    ORDER BY seq LIMIT 1
                    """),
            arguments: [
                position, last, rule.name, rule.events.contains(.changeFailed) ? 1 : 0,
                rule.events.contains(.conflict) ? 1 : 0, rule.entity, rule.isOfReminders ? 1 : 0,
            ])
    }

    private static func occurrence(_ row: Row) throws -> HookOccurrence? {
        let detail = try row.json("detail")
        let event: HookEvent?
        switch row["kind"] as String {
        case ChangeLogKind.failed.rawValue: event = .changeFailed
        case ChangeLogKind.conflict.rawValue: event = .conflict
        case ChangeLogKind.reminder.rawValue: event = .due
        default: event = detail?["event"]?.string.flatMap(HookEvent.init)
        }
        guard let event else { return nil }
        var occurrence = HookOccurrence(
            event: event, seq: row["seq"], at: Timestamp(milliseconds: row["at"]), change: row["change_id"],
            conflict: detail?["conflict"]?.integer.map { Int64($0) },
            reminder: detail?.at(path: "reminder.id")?.integer.map { Int64($0) })
        guard !event.isOfUpstream else { return occurrence }
        occurrence.entity = row["entity"] as String
        occurrence.key = try JSONText(parsing: row["keys"] as String).elements.first?.string
        return occurrence
    }

    /// The record of an event as readers see it now; nil if there is none any more.
    package func record(of occurrence: HookOccurrence) throws -> JSONText? {
        guard occurrence.event != .deleted, let entity = occurrence.entity, let key = occurrence.key,
            schema[entity] != nil
        else { return nil }
        return try record(entity, key: key).map { JSONText(validated: $0) }
    }

    /// The reminder of an event as it is now; nil if the event is about none, or if it is not due any more.
    package func reminder(of occurrence: HookOccurrence) throws -> Reminder? {
        guard occurrence.reminder != nil else { return nil }
        return try snapshot { db in try ReminderTable(records: RecordTransaction(db, plans)).due(occurrence) }
    }

    /// The number that no retry and no restart changes, and that no other database has.
    package func deliveryKey(_ hook: String, _ occurrence: HookOccurrence) -> String {
        "\(hook)-\(epoch)-\(occurrence.seq)"
    }

    // MARK: Deliveries

    /// Does nothing if the hook is past the event, as after someone skipped it.
    package func finishHook(
        _ name: String, _ occurrence: HookOccurrence, _ outcome: HookOutcome, at now: Timestamp
    ) async throws {
        try await writer.write { [self] db in
            try HookTable(db: db).finish(name, occurrence, outcome, at: now)
            if name == HookRule.reminders.name, hooks.contains(.reminders) {
                try finishReminders(occurrence, outcome, at: now, db)
            }
        }
    }

    private func finishReminders(
        _ occurrence: HookOccurrence, _ outcome: HookOutcome, at now: Timestamp, _ db: Database
    ) throws {
        let table = ReminderTable(records: RecordTransaction(db, plans))
        switch outcome {
        case .delivered(let earlier):
            for delivered in earlier + [occurrence] { try table.finish(delivered, problem: nil, at: now) }
            if occurrence.event == .missed { try Self.remindAgain(db) }
        case .failed(let problem, _): try table.finish(occurrence, problem: problem, at: now)
        case .parked(let problem):
            try table.finish(occurrence, problem: problem, at: now)
            try table.giveUp(occurrence)
        }
    }

    /// Lets reminders whose delivery is pending fall due again: the hook is past their entries in the change log.
    private static func remindAgain(_ db: Database) throws {
        try db.execute(
            sql: """
                UPDATE sync_reminder SET state = 'scheduled'
                WHERE state = 'due' AND withdrawn = 0 AND next_at IS NOT NULL
                """)
    }

    /// The hook has nothing to deliver up to this number, so the change log need not keep more for it.
    package func moveHook(_ name: String, to position: Int64) async throws {
        try await writer.write { db in try HookTable(db: db).move(name, to: position) }
    }

    /// The oldest parked delivery that someone wants to be tried again.
    package func parkedToRetry(_ name: String) throws -> ParkedDelivery? {
        try read { db in try HookTable(db: db).parkedToRetry(name) }
    }

    /// `problem`: why it failed again; nil if it was delivered.
    package func finishParked(
        _ name: String, _ parked: ParkedDelivery, problem: String?, at now: Timestamp
    ) async throws {
        try await writer.write { [self] db in
            try HookTable(db: db).finishParked(name, parked.id, problem: problem, at: now)
            try ReminderTable(records: RecordTransaction(db, plans))
                .finish(parked.occurrence, problem: problem, at: now)
        }
    }

    /// Notes whether the upstream can be reached, and logs it for hooks if that has changed. The first note says nothing
    /// of a change.
    package func noteReachable(_ isReachable: Bool, at now: Timestamp) async throws {
        let text = isReachable ? "yes" : "no"
        guard try setting(Self.reachable) != text else { return }
        let event: HookEvent = isReachable ? .online : .offline
        let names = hooks.filter { $0.events.contains(event) }.map(\.name)
        try await writer.write { [self] db in
            let settings = SettingTable(db: db)
            let known = try settings[Self.reachable]
            try settings.set(Self.reachable, to: text)
            guard known != nil || !isReachable else { return }
            try context(db, at: now).log.append(event, entity: "", key: "", hooks: names)
        }
    }
}

/// What people decide about hooks, each stored at once. All throw `.notFound` for a hook that was not started.
extension LocalTransaction {
    package func hookState(_ name: String) throws -> HookState {
        guard let state = try hookTable.state(name) else { throw CacheError.notFound("there is no hook \(name)") }
        return state
    }

    package func parkedDeliveries(_ name: String, limit: Int) throws -> [ParkedDelivery] {
        try hookTable.parked(name, limit: limit)
    }

    package func pauseHook(_ name: String, _ isPaused: Bool) throws {
        _ = try hookState(name)
        try hookTable.setPaused(isPaused, name)
    }

    /// Tries the parked delivery `id` again. Without an id: all that are parked, and the one that is next at once.
    package func retryHook(_ name: String, _ id: Int64?) throws {
        _ = try hookState(name)
        if id == nil { try hookTable.hurry(name) }
        let count = try hookTable.wantParked(name, id)
        if let id, count == 0 { throw CacheError.notFound("the hook \(name) has no parked delivery \(id)") }
    }

    /// Removes the parked delivery `id`, or all of them.
    package func discardParked(_ name: String, _ id: Int64?) throws {
        _ = try hookState(name)
        let count = try hookTable.discardParked(name, id)
        if let id, count == 0 { throw CacheError.notFound("the hook \(name) has no parked delivery \(id)") }
    }

    /// Gives up the delivery that has failed, and goes on with the next. Throws `.conflict` when none has failed.
    package func skipHook(_ name: String) throws {
        let state = try hookState(name)
        guard state.attempts > 0, let rule = store.hooks.first(where: { $0.name == name }) else {
            throw CacheError.conflict("the hook \(name) has no failed delivery to skip")
        }
        let scan = try CacheStore.nextOccurrence(for: rule, after: state.position, at: now, db)
        try hookTable.move(name, to: scan.position)
        if let occurrence = scan.occurrence { try ReminderTable(records: context.records).giveUp(occurrence) }
    }

    private var hookTable: HookTable { HookTable(db: db) }
}

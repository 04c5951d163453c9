package import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Up to when hooks and reminders were delivered, for another daemon of the same account that goes on with them. Its change
/// log has other numbers, so these are times.
package struct DeliveryMarks: Sendable, Equatable {
    /// Everything that the upstream had before this time was delivered to the hook. One that is missing was never at its end.
    package var hooks: [String: Timestamp]
    /// Each reminder that was due before this time was delivered; nil if that is not known.
    package var reminders: Timestamp?

    package init(hooks: [String: Timestamp] = [:], reminders: Timestamp? = nil) {
        self.hooks = hooks
        self.reminders = reminders
    }
}

extension DeliveryMarks {
    package var text: String {
        let hooks = hooks.sorted { $0.key < $1.key }.map { ($0.key, JSONText.integer(Int($0.value.milliseconds))) }
        return JSONText.object(members: [
            ("hooks", .object(members: hooks)), ("reminders", .integer(reminders.map { Int($0.milliseconds) })),
        ]).text
    }

    /// What cannot be read is not known.
    package init(_ text: String) {
        func time(_ value: JSONText) -> Timestamp? { value.integer.map { Timestamp(milliseconds: Int64($0)) } }
        let json = try? JSONText(parsing: text)
        let hooks = (json?["hooks"]?.members ?? []).compactMap { name, value in time(value).map { (name, $0) } }
        self.init(hooks: Dictionary(hooks) { $1 }, reminders: (json?["reminders"]).flatMap(time))
    }
}

extension CacheStore {
    /// The rules of the hooks that have nothing left to deliver, or to try again.
    package func deliveredHooks(at now: Timestamp) throws -> [HookRule] {
        try snapshot { db in
            try hooks.filter { rule in
                guard let state = try HookTable(db: db).state(rule.name), state.attempts == 0 else { return false }
                let scan = try Self.nextOccurrence(for: rule, after: state.position, at: now, db)
                return scan.occurrence == nil && !scan.hasMore
            }
        }
    }

    /// Whether a reminder is due that was not delivered, and that is not given up.
    package func hasOpenReminders(at now: Timestamp) throws -> Bool {
        try read { db in
            try Bool.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT EXISTS (SELECT 1 FROM sync_reminder WHERE withdrawn = 0 AND (
                          state = 'due' AND next_at IS NOT NULL
                          OR state IN ('scheduled', 'snoozed') AND next_at <= ?))
                        """),
                arguments: [now.milliseconds]) ?? false
        }
    }

    /// Lets each hook go on with what has happened here since its time, if it is not further: another daemon has delivered
    /// what was before.
    package func skipHooks(_ times: [String: Timestamp]) async throws {
        for (name, time) in times {
            guard let position = try lastEntry(before: time, of: name) else { continue }
            try await moveHook(name, to: position)
        }
        guard let time = times[HookRule.reminders.name] else { return }
        try await writer.write { db in
            try db.execute(
                sql: "UPDATE sync_reminder SET next_at = NULL WHERE state = 'due' AND next_at < ?",
                arguments: [time.milliseconds])
        }
    }

    /// Nil if the hook is already there.
    private func lastEntry(before time: Timestamp, of name: String) throws -> Int64? {
        try snapshot { db in
            guard let state = try HookTable(db: db).state(name) else { return nil }
            let next = try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT min(seq) FROM sync_change_log WHERE seq > ? AND at >= ?"),
                arguments: [state.position, time.milliseconds])
            let last = try next.map { $0 - 1 } ?? Self.logEnd(db)
            return last > state.position ? last : nil
        }
    }
}

package import CacheStore
package import EntitySchema

/// How far this daemon is with hooks and reminders, by the time of day: what another daemon need not deliver again.
///
/// The other daemon sees the same changes of the upstream, each at a time of its own. A change that this daemon has not seen
/// yet was made after its last pull began, and that pull began after the one before had ended. So a hook that is at its end
/// has delivered everything from before the end of the last pull but one.
package struct DeliveryProgress: Sendable {
    package private(set) var marks: DeliveryMarks
    private let schema: EntitySchema
    private let deliversReminders: Bool
    private var pulls: [String: (last: Timestamp, former: Timestamp?)] = [:]

    /// `marks` are those of the daemon that has delivered until now.
    package init(after marks: DeliveryMarks, schema: EntitySchema, deliversReminders: Bool) {
        self.marks = marks
        self.schema = schema
        self.deliversReminders = deliversReminders
    }

    /// `pulled` says when each entity was last pulled; it was asked before this call, so what those pulls have brought is in
    /// the change log.
    package mutating func update(_ store: CacheStore, pulled: [String: Timestamp], at now: Timestamp) throws {
        for (entity, time) in pulled where pulls[entity]?.last != time {
            pulls[entity] = (time, pulls[entity]?.last)
        }
        let delivered = try store.deliveredHooks(at: now)
        // After the hooks: a reminder that falls due between the two looks is open or delivered at the second one.
        let areRemindersOpen = try deliversReminders && store.hasOpenReminders(at: now)
        for rule in delivered where !(rule.isOfReminders && areRemindersOpen) {
            guard let time = known(rule, at: now) else { continue }
            marks.hooks[rule.name] = max(marks.hooks[rule.name] ?? time, time)
        }
        // Without a pull in this turn, a reminder that the former daemon had may not be here yet.
        if deliversReminders, !areRemindersOpen, known(.reminders, at: now) != nil {
            marks.reminders = max(marks.reminders ?? now, now)
        }
    }

    /// Up to when all that the upstream had is in the change log; nil if that is not known.
    private func known(_ rule: HookRule, at now: Timestamp) -> Timestamp? {
        let names = rule.isOfReminders ? schema.reminders.map(\.entity) : [rule.entity].compactMap(\.self)
        var time = now
        for name in names where schema[name]?.isLocal == false {
            guard let former = pulls[name]?.former else { return nil }
            time = min(time, former)
        }
        return time
    }
}

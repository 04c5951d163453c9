internal import EntitySchema
internal import JSONText

/// The kinds of events that a hook can get.
package enum HookEvent: String, CaseIterable, Sendable {
    /// A record as readers see it: it is new, shows something else, or is gone.
    case created, changed, deleted
    /// A queued change failed for good.
    case changeFailed = "change_failed"
    /// A local change and a change on the server collided, also where a rule decides at once.
    case conflict
    /// The upstream cannot be reached, and can be reached again.
    case offline, online
    /// A reminder fell due and is to be delivered.
    case due
    /// Entries of the change log were removed before the hook had them. Every hook gets this one.
    case missed

    /// Those that a configuration can name.
    package static let named = allCases.filter { ![.due, .missed].contains($0) }

    /// Whether it is about a record's own values, so that conditions can be tested.
    package var isOfRecord: Bool { [.created, .changed, .deleted].contains(self) }

    /// Whether it is about the upstream as a whole.
    package var isOfUpstream: Bool { self == .offline || self == .online }
}

/// Which events a hook gets.
package struct HookRule: Sendable, Equatable {
    /// A field, and the plain texts of the values that it may have.
    package struct Condition: Sendable, Equatable {
        package var field: String
        package var values: [String]

        package init(field: String, values: [String]) {
            self.field = field
            self.values = values
        }
    }

    package var name: String
    package var events: [HookEvent]
    /// Nil for a hook that gets only events of the upstream, or reminders.
    package var entity: String?
    /// A change counts if they all hold after it and did not before it: the record became so.
    package var conditions: [Condition]

    /// The hook that delivers reminders.
    package static let reminders = HookRule(name: "reminders", events: [.due])

    package var isOfReminders: Bool { self == .reminders }

    package init(name: String, events: [HookEvent], entity: String? = nil, conditions: [Condition] = []) {
        self.name = name
        self.events = events
        self.entity = entity
        self.conditions = conditions
    }

    /// Whether the hook gets this event of a record; nil before it was created and after it was deleted.
    func applies(to event: HookEvent, from before: JSONText?, to after: JSONText?, of entity: Entity) -> Bool {
        guard events.contains(event) else { return false }
        switch event {
        case .changed where !conditions.isEmpty: return holds(after, entity) && !holds(before, entity)
        case .deleted: return holds(before, entity)
        default: return holds(after, entity)
        }
    }

    private func holds(_ record: JSONText?, _ entity: Entity) -> Bool {
        guard let record else { return false }
        return conditions.allSatisfy { condition in
            guard let value = entity.value(of: condition.field, in: record), value.kind != .null else { return false }
            return condition.values.contains(value.plain)
        }
    }
}

package import CacheStore
package import JSONText

/// A hook of the configuration, and how its events are delivered.
package struct Hook: Sendable {
    /// Delivers an event; throws when that failed.
    package typealias Delivery = @Sendable (HookDelivery) async throws -> Void

    package var rule: HookRule
    /// After this many failed attempts a delivery is parked.
    package var attempts: Int
    package var deliver: Delivery

    package init(rule: HookRule, attempts: Int, deliver: @escaping Delivery) {
        self.rule = rule
        self.attempts = attempts
        self.deliver = deliver
    }
}

/// One attempt to deliver an event to a hook.
package struct HookDelivery: Sendable, Equatable {
    package var hook: String
    /// The same for every attempt, and for no other event.
    package var key: String
    package var occurrence: HookOccurrence
    /// From 1.
    package var attempt: Int
    /// As readers see it now, without secrets; nil if the event is about no record, or it is gone.
    package var record: JSONText?
    /// What is due, with `attempt` as its number of attempts.
    package var reminder: Reminder?

    package init(
        hook: String, key: String, occurrence: HookOccurrence, attempt: Int, record: JSONText?,
        reminder: Reminder? = nil
    ) {
        self.hook = hook
        self.key = key
        self.occurrence = occurrence
        self.attempt = attempt
        self.record = record
        self.reminder = reminder
        self.reminder?.attempts = attempt
    }

    /// What programs and webhooks get.
    package var document: JSONText {
        var members: [(key: String, value: JSONText)] = [("hook", .string(hook)), ("key", .string(key))]
        members += occurrence.members
        members.append(("attempt", .integer(attempt)))
        members.append(("record", record ?? .null))
        if let reminder { members.append(("reminder", reminder.document)) }
        return .object(members: members)
    }
}

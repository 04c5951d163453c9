package import EntitySchema
package import JSONText

/// One event that a hook gets.
package struct HookOccurrence: Sendable, Equatable {
    package var event: HookEvent
    /// Its number in the change log.
    package var seq: Int64
    package var at: Timestamp
    package var entity: String?
    package var key: String?
    /// The queued change that it is about.
    package var change: Int64?
    package var conflict: Int64?
    package var reminder: Int64?
    /// The first number that is missing; `seq` is the last.
    package var missedFrom: Int64?

    package var members: [(key: String, value: JSONText)] {
        var members: [(key: String, value: JSONText)] = [
            ("event", .string(event.rawValue)), ("seq", .integer(Int(seq))), ("at", .string(at.description)),
            ("entity", .string(entity)), ("id", .string(key)), ("change_id", .integer(change.map { Int($0) })),
            ("conflict_id", .integer(conflict.map { Int($0) })),
        ]
        if let reminder { members.append(("reminder_id", .integer(Int(reminder)))) }
        if let missedFrom {
            members.append(("missed", .object(["from": .integer(Int(missedFrom)), "to": .integer(Int(seq))])))
        }
        return members
    }
}

extension HookOccurrence {
    /// As it is stored; nil for text that is no event.
    init?(_ document: JSONText) {
        guard let event = document["event"]?.string.flatMap(HookEvent.init), let seq = document["seq"]?.integer,
            let at = document["at"]?.string.flatMap({ Timestamp(iso8601: $0) })
        else { return nil }
        self.init(
            event: event, seq: Int64(seq), at: at, entity: document["entity"]?.string, key: document["id"]?.string,
            change: document["change_id"]?.integer.map { Int64($0) },
            conflict: document["conflict_id"]?.integer.map { Int64($0) },
            reminder: document["reminder_id"]?.integer.map { Int64($0) },
            missedFrom: document.at(path: "missed.from")?.integer.map { Int64($0) })
    }
}

/// The next event of a hook, as far as the log was searched.
package struct HookScan: Sendable, Equatable {
    /// Nil if there is none up to `position`.
    package var occurrence: HookOccurrence?
    package var position: Int64
    /// The log goes on after `position`.
    package var hasMore: Bool
}

/// What became of a delivery.
package enum HookOutcome: Sendable, Equatable {
    /// This one, and the earlier ones right before it.
    case delivered(earlier: [HookOccurrence])
    case failed(String, retryAt: Timestamp)
    /// It is set aside, and the hook goes on with the next event.
    case parked(String)
}

/// A delivery that was set aside.
package struct ParkedDelivery: Sendable, Equatable {
    package var id: Int64
    package var occurrence: HookOccurrence
    package var attempts: Int
    package var reason: String
    package var at: Timestamp

    package var document: JSONText {
        var members: [(key: String, value: JSONText)] = [("id", .integer(Int(id)))]
        for member in occurrence.members {
            members.append((member.key == "id" ? "record_id" : member.key, member.value))
        }
        members.append(("attempts", .integer(attempts)))
        members.append(("reason", .string(reason)))
        members.append(("parked_at", .string(at.description)))
        return .object(members: members)
    }
}

/// How far a hook is.
package struct HookState: Sendable, Equatable {
    package var name: String
    /// Every event up to this number was delivered, parked or skipped.
    package var position: Int64
    package var isPaused: Bool
    /// Failed attempts of the delivery that is next.
    package var attempts: Int
    package var nextAt: Timestamp?
    package var error: String?
    package var delivered: Int
    package var deliveredAt: Timestamp?
    package var parked: Int
}

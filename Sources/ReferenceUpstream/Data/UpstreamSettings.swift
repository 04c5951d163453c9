internal import JSONText

/// How a reference upstream is set up.
package struct UpstreamSettings: Sendable {
    /// The identity that the schema's account call returns.
    package var account = "company-1"
    /// The name of who is signed in, if the schema says where it stands.
    package var accountName = "Robin Example"
    /// The bearer token that every call but the probe needs; nil for none.
    package var token: String?
    /// The user who can sign in as the schema's `auth` describes; every call except sign-in and probe then needs a
    /// token.
    package var user: User?
    /// The server chooses the keys of new records, whatever a create sends. A key that refers to another record stays.
    package var serverIds = false
    /// Refuses a write that refers to a missing record with 422.
    package var checksReferences = false
    /// The transitions that certain fields may take.
    package var workflows: [Workflow] = []
    /// The most records in one page, whatever is requested; never less than the schema's own page size.
    package var largestPage = 1000
    /// The field with a record's creation time, in entities that have it; schemas have no word for it.
    var createdField = "created_at"
    /// The tz database's name of the time zone of the dashboard's days.
    package var timeZone = "UTC"
    package var faults = Faults()
    package var habits = Habits()
    /// Nil shows every record as it is stored, and takes whatever the schema's routes send.
    package var shape: UpstreamShape?
    /// Seeds the faults and the generated keys.
    package var seed: UInt64 = 1
    /// How many requests, and applied writes, are remembered.
    package var memory = 100_000

    package init() {}

    package struct User: Sendable {
        /// The first answer of a sign-in, such as an email address.
        package var name: String
        package var password: String
        package var id = "user-1"
        package var accessLifetime = Duration.seconds(900)
        var refreshLifetime = Duration.seconds(7 * 86_400)

        package init(name: String, password: String) {
            self.name = name
            self.password = password
        }
    }
}

/// The transitions that one field may take; any other change of it is refused with 400.
package struct Workflow: Sendable {
    package var entity: String
    package var field: String
    /// Only for records with this value in another field; nil for all.
    package var condition: (field: String, value: String)?
    /// From a value to those that may follow it.
    package var steps: [String: [String]]

    package init(
        entity: String, field: String, when condition: (field: String, value: String)? = nil, steps: [String: [String]]
    ) {
        self.entity = entity
        self.field = field
        self.condition = condition
        self.steps = steps
    }

    func applies(to record: JSONText) -> Bool { condition.map { record[$0.field]?.plain == $0.value } ?? true }

    /// Throws when `steps` does not allow the transition from `old` to `new`; an unchanged value is no transition.
    func check(from old: JSONText?, to new: JSONText) throws(Refusal) {
        guard let old, old != new else { return }
        let next = steps[old.plain] ?? []
        guard !next.contains(new.plain) else { return }
        throw .step(field, from: old.plain, to: new.plain, possible: next)
    }
}

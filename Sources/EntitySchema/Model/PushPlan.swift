/// How local changes go there; an operation without a route is refused before it is queued.
package struct PushPlan: Sendable, Equatable {
    package var create: [PushRoute]
    package var update: [PushRoute]
    package var delete: [PushRoute]
}

/// One way to send a change; the first of an operation's routes whose conditions hold and that can send it is taken.
package struct PushRoute: Sendable, Equatable {
    package var method: String
    package var path: Template
    /// Fields and the plain text their values must have.
    package var conditions: [String: String]
    /// The only fields it can send; nil for any.
    package var fields: [String]?
    /// Names that differ on the wire: wire name → field; nil sends fields under their own names.
    package var body: [String: String]?
    /// Where the answer holds the record as it now is.
    package var record: Place
    package var lookUp: LookUp?
}

/// How to find out whether a creation whose answer was lost has been applied, where no idempotency key tells.
package enum LookUp: Sendable, Equatable {
    /// The upstream keeps the key that the record was made with here.
    case key
    /// Lists what is there and looks for a record, unknown before the attempt, with the same values in `fields`.
    case match(fields: [String], path: Template, query: [QueryItem], list: ListPlan)
}

/// Who wins where a field was changed both here and there.
package enum ConflictPolicy: String, Sendable, Equatable, CaseIterable {
    case lastWriteWins = "last_write_wins"
    case localWins = "local_wins"
    case serverWins = "server_wins"
    /// Held until a person chooses.
    case manual
}

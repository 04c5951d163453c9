/// How local changes are pushed; an operation without a route is refused before it is queued.
package struct PushPlan: Sendable, Equatable {
    package var create: [PushRoute]
    package var update: [PushRoute]
    package var delete: [PushRoute]

    var routes: [PushRoute] { create + update + delete }
}

/// One way to send a change. The first of an operation's routes is used that can send the change and whose conditions
/// hold.
package struct PushRoute: Sendable, Equatable {
    package var method: String
    package var path: Template
    /// Field → the plain text that its value must have.
    package var conditions: [String: String]
    /// The only fields it can send; nil for any.
    package var fields: [String]?
    /// Names and places that differ on the wire; nil sends fields under their own names.
    package var body: FieldPlaces?
    /// What the body has around the fields; nil when they are the body.
    package var envelope: BodyTemplate?
    /// Whether an update sends the whole record with the changes over it, not only the changes.
    package var sendsRecord = false
    package var encoding = BodyEncoding.plain
    /// Texts that are also sent as HTML: wire name → field.
    package var html: [String: String] = [:]
    /// The part of a multipart/form-data body that carries the record's content; nil for a JSON body, or for the content
    /// as the body.
    package var file: String?
    /// Where the response has the record as it now is.
    package var record: Place
    /// That place is the upstream's, not one that the route sets.
    package var isRecordInherited = false
    package var lookUp: LookUp?
    /// Fields of a creation whose values its record shows elsewhere, in a list with others: a new order's note among the
    /// notes of its ticket.
    package var shownAmong: [String: Place] = [:]
    /// How it goes out together with others; nil if it never does.
    package var batch: BatchPlan?
    /// The schema says that it never does, whatever the upstream takes.
    var isSentAlone = false

    /// Whether its changes can be elements of a batch: a batch is JSON.
    var fitsBatches: Bool { file == nil && encoding != .form && !isSentAlone }

    /// False for an action in a batch whose elements have the fields: the upstream would take them for an edit.
    func fits(_ plan: BatchPlan, _ operation: Operation) -> Bool {
        let isAction = operation == .update && envelope?.hasFields == false
        return !isAction || plan.elements[operation]?.slots.contains(.fields) != true
    }
}

/// How to find out whether a creation was applied when its response was lost and no idempotency key shows it.
package enum LookUp: Sendable, Equatable {
    /// The upstream keeps the key that the record was created with.
    case key
    /// Lists the upstream's records at `path` and looks for one, unknown before the attempt, with the same values in
    /// `fields`. Without `path` it is the entity's own list, asked for as a full pull asks for it.
    case match(fields: [String], path: Template?, list: ListPlan)
}

/// Which side wins when a field was changed both locally and upstream.
package enum ConflictPolicy: String, Sendable, Equatable, CaseIterable {
    case lastWriteWins = "last_write_wins"
    case localWins = "local_wins"
    case serverWins = "server_wins"
    /// Held until you choose.
    case manual
}

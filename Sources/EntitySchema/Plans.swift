internal import JSONText

/// Where and how the upstream serves, as far as it is the same for all entities.
package struct UpstreamPlan: Sendable, Equatable {
    package struct Account: Sendable, Equatable {
        package var path: String
        /// Where in the answer the identity stands.
        package var id: String
    }

    /// Pages counted from 1; what is not in the answer is nil and simply not known.
    package struct Pagination: Sendable, Equatable {
        package var page: String
        package var size: String
        package var pageSize: Int
        package var total: String?
        package var pages: String?
    }

    package var baseURL: String
    package var account: Account?
    /// Asked to find out whether the upstream is back; any answer will do.
    package var probe: String
    /// Where an error answer keeps its text.
    package var errorMessage: String?
    package var pagination: Pagination
    /// Where a list's records, and a single record, stand in an answer; empty for the answer itself.
    package var records: String
    package var idempotencyHeader: String?
}

/// How an entity's records come here.
package struct PullPlan: Sendable, Equatable {
    /// Asking only for what changed: `?<parameter>=<time>`.
    package struct Since: Sendable, Equatable {
        package var parameter: String
        /// The field that holds a record's change time.
        package var field: String
        /// How far before the watermark each pull starts.
        package var overlap: Duration
    }

    /// Records of another entity, fetched for each record of this one that changed.
    package struct Detail: Sendable, Equatable {
        package var path: Template
        package var entity: String
        /// The field of this entity that moves when the other records do.
        package var whenChanged: String
    }

    package var path: String
    package var since: Since?
    /// A field whose presence with a value other than null or false marks a record as deleted.
    package var deleted: String?
    package var detail: Detail?
}

/// How local changes go there; an operation without a route is refused before it is queued.
package struct PushPlan: Sendable, Equatable {
    package var create: [PushRoute]
    package var update: [PushRoute]
    package var delete: [PushRoute]
}

/// One way to send a change; the first of an operation's routes whose conditions hold is taken.
package struct PushRoute: Sendable, Equatable {
    package var method: String
    package var path: Template
    /// Fields and the plain text their values must have.
    package var conditions: [String: String]
    /// The only fields it can send; nil for any.
    package var fields: [String]?
    /// Names that differ on the wire: wire name → field; nil sends fields under their own names.
    package var body: [String: String]?
}

/// Where and how the upstream serves, as far as it is the same for all entities.
package struct UpstreamPlan: Sendable, Equatable {
    package struct Account: Sendable, Equatable {
        package var path: String
        /// Where in the answer the identity stands.
        package var id: Place
    }

    /// How a spent access token is exchanged for another: `POST path {send: refresh token}`.
    package struct Refresh: Sendable, Equatable {
        package var path: String
        /// The name under which the refresh token is sent.
        package var send: String
        package var token: Place
        /// The next refresh token, where they rotate.
        package var refreshToken: Place?
        /// Seconds that the new access token lives.
        package var expiresIn: Place?
    }

    /// How the upstream tells one version of a record from another.
    package enum Version: Sendable, Equatable {
        /// By the `ETag` of a single record's answer, sent back as `If-Match`.
        case etag
        /// By a field of the record, sent back in a header.
        case field(String, header: String)
    }

    /// Nil where each installation has an address of its own, which the configuration then names.
    package var baseURL: String?
    package var account: Account?
    package var refresh: Refresh?
    /// How a person gets the first tokens; the first way is the usual one.
    package var login: [LoginWay] = []
    /// Called with a token that is to be good for nothing from then on.
    package var logout: String?
    /// Asked to find out whether the upstream is back.
    package var probe: String
    /// Where an error answer keeps its text.
    package var errorMessage: Place?
    /// Where a single record stands in an answer, unless an entity says otherwise.
    package var record: Place
    package var idempotencyHeader: String?
    package var version: Version?
}

/// How a list is paged and where its parts stand in an answer. What an answer does not tell is simply not known.
package struct ListPlan: Sendable, Equatable {
    package enum Style: Sendable, Equatable {
        /// Pages counted from 1.
        case page(parameter: String, pages: Place?)
        /// Records to skip, from 0.
        case offset(parameter: String)
        /// What the answer gives for the next page.
        case cursor(parameter: String, next: Place)
        /// The `Link` header with `rel="next"` (RFC 8288).
        case link
        /// A header that holds the next page's number or name, such as `Next-Page`.
        case header(name: String, parameter: String)
        /// The next page's address in the answer.
        case nextURL(Place)
        /// Everything in one answer.
        case single
    }

    package var style: Style
    /// The parameter for the number of records on a page; nil where it cannot be chosen.
    package var size: String?
    package var pageSize: Int
    package var total: Place?
    /// Where the records stand.
    package var records: Place
}

/// How an entity's records come here.
package struct PullPlan: Sendable, Equatable {
    package enum Mode: Sendable, Equatable {
        /// Only what changed since the watermark: `?<parameter>=<time>`; each pull starts `overlap` before it.
        case since(parameter: String, overlap: Duration)
        /// Pages by change time, newest first, until a whole page is known.
        case newestFirst
        /// Everything, each time.
        case full
    }

    /// A single record's own path, and where it stands in the answer.
    package struct Single: Sendable, Equatable {
        package var path: Template
        package var place: Place
    }

    /// Records of another entity that come with each record of this one.
    package struct Detail: Sendable, Equatable {
        /// Asked for each record that changed; nil where the others stand inside the record itself.
        package var path: Template?
        package var entity: String
        /// How the answer of `path`, or the record itself, holds them.
        package var list: ListPlan
        /// The field of this entity that moves when the other records do; nil where they stand inside it.
        package var whenChanged: String?
        /// The field of the other entity that holds this one's key; set where a record comes without it.
        package var by: String?
    }

    package var path: String
    /// Parameters that every page is asked with.
    package var query: [QueryItem]
    package var list: ListPlan
    package var mode: Mode
    /// The field that holds a record's change time.
    package var changedAt: String?
    /// A field whose presence with a value other than null or false marks a record as deleted.
    package var deleted: String?
    package var single: Single
    package var detail: Detail?

    /// True where a pull can ask for less than everything by time.
    package var isSince: Bool {
        if case .since = mode { true } else { false }
    }

    /// How much later than its change time says a row may turn up, by what the schema tells.
    package var overlap: Duration {
        if case .since(_, let overlap) = mode { overlap } else { Self.defaultOverlap }
    }

    static let defaultOverlap = Duration.seconds(300)
}

package struct QueryItem: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

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

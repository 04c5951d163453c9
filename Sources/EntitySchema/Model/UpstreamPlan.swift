/// Where and how the upstream serves: everything that is the same for all entities.
package struct UpstreamPlan: Sendable, Equatable {
    package struct Account: Sendable, Equatable {
        package var path: String
        /// Where the response has the identity.
        package var id: Place
        /// The name of who is signed in, made of places in the response; nil when the schema does not say.
        package var name: TextPattern?
        /// What people call the account itself, such as the company's name; nil when the schema does not say.
        package var title: TextPattern?
    }

    /// The header that carries the idempotency key of each change.
    package struct IdempotencyHeader: Sendable, Equatable {
        package var name: String
        /// Those whose repeats the upstream recognizes by it. Some upstreams ignore it in all but creations.
        package var operations: Set<Operation>

        package init(name: String, operations: Set<Operation>) {
            self.name = name
            self.operations = operations
        }
    }

    /// How an access token is exchanged for another: `POST path {send: refresh token}`, or a POST without a body that
    /// carries the access token itself.
    package struct Refresh: Sendable, Equatable {
        /// Below the base address, or a whole address on another host.
        package var path: String
        /// How the refresh token is sent, if not as one member of a JSON body: `{$refresh_token}` stands for it.
        package var call: SignInCall?
        /// The name under which the refresh token is sent; nil if the access token is sent in its usual place instead.
        package var send: String?
        package var token: Place
        /// The next refresh token, if they rotate.
        package var refreshToken: Place?
        /// When the new access token expires.
        package var expiry: TokenExpiry?
    }

    /// How the upstream identifies a version of a record.
    package enum Version: Sendable, Equatable {
        /// By the `ETag` of a single record's response, sent back as `If-Match`.
        case etag
        /// By a value of the record, sent back in a header.
        case field(VersionField)
    }

    /// Where a record has its version, and how a header has it: `If-Match: "12"`.
    package struct VersionField: Sendable, Equatable {
        /// Such as `revision` or `meta.versionId`.
        package var place: String
        package var header: String
        /// Around the value in the header.
        package var before = ""
        package var after = ""

        /// The header's value for the record's.
        package func sent(_ version: String) -> String { before + version + after }
    }

    /// A header that every request has.
    package struct Header: Sendable, Equatable {
        package var name: String
        /// As it is in the schema: `{$secret.NAME}` stands for a stored credential.
        package var value: String
    }

    /// Nil when each installation has its own address, which is then in the configuration.
    package var baseURL: String?
    package var account: Account?
    /// Where every request but those of a sign-in carries the token.
    package var tokenPlace = TokenPlace.bearer
    package var refresh: Refresh?
    /// How the daemon signs in by itself.
    package var session: SignInCall?
    /// Asked whether the token still counts when an answer looks empty or gone.
    package var check: TokenCheck?
    /// How you get the first tokens; the first method is the default.
    package var login: [LoginWay] = []
    /// The path that revokes the token that a POST carries.
    package var logout: String?
    /// Requested to find out whether the upstream is reachable again.
    package var probe: String
    /// How an answer says whether a request succeeded.
    package var answers = AnswerPlan()
    /// Where a response has a single record, unless an entity sets it.
    package var record: Place
    package var idempotencyHeader: IdempotencyHeader?
    /// Sent with every request below the base address.
    package var headers: [Header] = []
    package var version: Version?
    /// How changes of any entity go out together; nil if each goes by itself.
    package var batch: BatchPlan?
    /// How many requests it takes; nil for no limit.
    package var limits: RequestLimits?
    /// For how long after an acknowledged change the upstream may still show what it had before.
    package var settle = Self.defaultSettle
    /// How it says that something has changed; polling does not depend on it.
    package var signals: [SignalSource] = []

    static let defaultSettle = Duration.seconds(60)

    /// The header that carries the idempotency key of a change of this kind; nil if none does.
    package func keyHeader(of operation: Operation) -> String? {
        idempotencyHeader.flatMap { $0.operations.contains(operation) ? $0.name : nil }
    }

    /// Where an error response has its text.
    package var errorMessage: Place? { answers.errorMessage }
}

/// One interactive way to get the first tokens: a sequence of calls, the last of which returns tokens.
package struct LoginWay: Sendable, Equatable {
    /// The name you choose it by: `password`, `magic_link`.
    package var name: String
    package var steps: [LoginStep]

    /// All questions of all steps, in order.
    package var questions: [LoginStep.Question] { steps.flatMap(\.questions) }
}

/// One call of a sign-in: `POST path {questions and sent values}`.
///
/// A response with a token ends the sign-in, whatever steps are left.
package struct LoginStep: Sendable, Equatable {
    package struct Question: Sendable, Equatable {
        /// The name under which the answer is sent, in this step and in a later one that sends it again.
        package var name: String
        /// The prompt.
        package var text: String
        /// Not shown while it is typed.
        package var secret: Bool
    }

    /// A value of the response that later steps send.
    package struct Keepsake: Sendable, Equatable {
        package var name: String
        package var place: Place
    }

    package var path: String
    package var questions: [Question]
    /// Names of earlier answers and kept values.
    package var send: [String]
    package var keep: [Keepsake]
}

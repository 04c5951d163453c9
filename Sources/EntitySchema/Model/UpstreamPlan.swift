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

/// One way to get the first tokens, which needs a person: calls one after the other, the last of which answers tokens.
package struct LoginWay: Sendable, Equatable {
    /// What a person chooses it by: `password`, `magic_link`.
    package var name: String
    package var steps: [LoginStep]

    /// What the person is asked, in the order of asking.
    package var questions: [LoginStep.Question] { steps.flatMap(\.questions) }
}

/// One call of a sign-in: `POST path {questions and sent values}`.
///
/// An answer that holds a token ends the sign-in, whatever steps are left.
package struct LoginStep: Sendable, Equatable {
    package struct Question: Sendable, Equatable {
        /// The name under which the answer is sent, here and wherever a later step sends it again.
        package var name: String
        /// What the person reads.
        package var text: String
        /// Not to be shown while it is typed.
        package var secret: Bool
    }

    /// A part of an answer that later steps send.
    package struct Keepsake: Sendable, Equatable {
        package var name: String
        package var place: Place
    }

    package var path: String
    package var questions: [Question]
    /// Names of what was asked or kept before.
    package var send: [String]
    package var keep: [Keepsake]
}

internal import EntitySchema

/// What the draft says about the upstream as a whole.
struct DraftUpstream: Sendable {
    enum SignIn: Sendable, Equatable {
        case bearer
        case header(name: String, value: String?)
        case query(String)
        case basic
        case clientCredentials(tokenURL: String, scope: String?)
        /// The document declares none.
        case none
    }

    var address: Guess<String>?
    var signIn: Guess<SignIn>
    var headers: [(name: String, value: Guess<String>)] = []
    var probe: Guess<String>?
    var errorMessage: Guess<String>?
    var idempotencyHeader: Guess<UpstreamPlan.IdempotencyHeader>?
    var hasEntityTags: Guess<Bool>?
    var todos: [String] = []
}

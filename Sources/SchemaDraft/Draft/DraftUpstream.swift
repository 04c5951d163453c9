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

extension DraftUpstream.SignIn {
    init(_ place: TokenPlace) {
        switch place {
        case .bearer: self = .bearer
        case .basic: self = .basic
        case .query(let name): self = .query(name)
        case .header(let name, let before, let after):
            self = .header(name: name, value: before.isEmpty && after.isEmpty ? nil : "\(before){$token}\(after)")
        }
    }

    /// Where requests have the token; nil if the document does not say it.
    var place: TokenPlace? {
        switch self {
        case .none: return nil
        case .bearer, .clientCredentials: return .bearer
        case .basic: return .basic
        case .query(let name): return .query(name: name)
        case .header(let name, let value):
            let parts = (value ?? "{$token}").split(separator: "{$token}", omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            return .header(name: name, before: String(parts[0]), after: String(parts[1]))
        }
    }
}

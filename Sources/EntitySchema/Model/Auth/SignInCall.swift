/// A call that answers a token for stored credentials (`auth.session` and `auth.client_credentials`), or for a refresh
/// token besides (`auth.refresh`).
package struct SignInCall: Sendable, Equatable {
    /// A header with a credential in it: `X-Client: {$secret.client}`.
    package struct Header: Sendable, Equatable {
        package var name: String
        package var value: ValueTemplate
    }

    /// A user and a password as HTTP Basic, both form-encoded as OAuth wants it (RFC 6749, 2.3.1).
    package struct Basic: Sendable, Equatable {
        package var user: ValueTemplate
        package var password: ValueTemplate
    }

    /// A path below the base address, or a whole address on another host.
    package var address: String
    package var headers: [Header] = []
    package var basic: Basic?
    package var body: JSONTemplate
    /// Whether the body is sent as a form instead of JSON.
    package var isForm = false
    package var token: Place
    /// A token for `auth.refresh`.
    package var refreshToken: Place?
    package var expiry: TokenExpiry?
    /// The key in the schema, for messages: `upstream.auth.session`.
    package var key: String

    /// Whether it goes to another host than all other requests.
    package var isElsewhere: Bool { !address.hasPrefix("/") }

    /// The stored credentials that it needs, each once.
    package var secretNames: [String] {
        let templates = [basic?.user, basic?.password].compactMap(\.self) + headers.map(\.value)
        let placeholders = templates.flatMap(\.placeholders) + body.placeholders
        var names: [String] = []
        for case .secret(let name) in placeholders.map(\.name) where !names.contains(name) {
            names.append(name)
        }
        return names
    }
}

/// How an answer with a token says when it expires.
package enum TokenExpiry: Sendable, Equatable {
    /// `exp` of the token, which is a JWT (RFC 7519, 4.1.4). It is not verified: only the upstream decides.
    case jwt
    /// Its lifetime in seconds, or the time at which it ends.
    case place(Place)

    package var place: Place? { if case .place(let place) = self { place } else { nil } }
}

/// A call that shows whether a token still counts: `auth.check`.
package struct TokenCheck: Sendable, Equatable {
    package var method: String
    package var path: String
    /// What an answer to a token that counts must name; nil if any success will do.
    package var account: Place?
}

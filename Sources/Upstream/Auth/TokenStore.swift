package import EntitySchema
internal import JSONText

/// The result of a sign-in: an access token and the refresh token for the next one.
package struct Tokens: Sendable, Equatable {
    package var access: String
    package var refresh: String?
    /// By this machine's clock; nil when the upstream does not say.
    package var expiresAt: Timestamp?

    package init(access: String, refresh: String? = nil, expiresAt: Timestamp? = nil) {
        self.access = access
        self.refresh = refresh
        self.expiresAt = expiresAt
    }

    /// From the response to a sign-in or a refresh; nil when it contains no token.
    init?(answer: JSONText, as refresh: UpstreamPlan.Refresh, at now: Timestamp) {
        guard let access = refresh.token.value(in: answer)?.string, Self.isSendable(access) else { return nil }
        let life = refresh.expiresIn?.value(in: answer)?.wholeNumber.map { Duration.seconds(min($0, 1 << 40)) }
        self.init(
            access: access, refresh: refresh.refreshToken?.value(in: answer)?.string,
            expiresAt: life.map { now + $0 })
    }

    /// Whether a header or a parameter can hold the token.
    static func isSendable(_ token: String) -> Bool { TokenPlace.bearer.accepts(token) }
}

/// The file that stores a sign-in: `{"token","refresh_token","expires_at"}`, mode 0600.
package struct TokenStore: Sendable {
    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// Returns once the tokens would survive a power loss. When it throws, the previous ones are still there.
    package func save(_ tokens: Tokens) throws(TokenFileError) {
        let text = JSONText.object([
            "token": .string(tokens.access), "refresh_token": .string(tokens.refresh),
            "expires_at": .string(tokens.expiresAt?.description),
        ])
        try PrivateFile(path: path).write(text.bytes + [UInt8(ascii: "\n")])
    }

    /// Nil before the first sign-in. Throws when the file is not one that `save` writes, or others may read it.
    package func load() throws(TokenFileError) -> Tokens? {
        guard let bytes = try PrivateFile(path: path).read() else { return nil }
        guard let json = try? JSONText(bytes), let access = json["token"]?.string, Tokens.isSendable(access) else {
            throw TokenFileError(message: "\(path) contains no token; run repairminder-sync login")
        }
        return Tokens(
            access: access, refresh: json["refresh_token"]?.string,
            expiresAt: json["expires_at"]?.string.flatMap { Timestamp(iso8601: $0) })
    }
}

package import EntitySchema
internal import JSONText

/// The result of a sign-in: an access token and the refresh token for the next one.
package struct Tokens: Sendable, Equatable {
    package var access: String
    package var refresh: String?
    /// By this machine's clock; nil when the upstream does not say.
    package var expiresAt: Timestamp?
    /// When it should be renewed, for a token that lives too briefly for the usual margin.
    package var renewsAt: Timestamp?

    package init(access: String, refresh: String? = nil, expiresAt: Timestamp? = nil, renewsAt: Timestamp? = nil) {
        self.access = access
        self.refresh = refresh
        self.expiresAt = expiresAt
        self.renewsAt = renewsAt
    }

    /// How long before its expiry a token is renewed.
    static let margin = Duration.seconds(30)

    /// Whether it is time to renew it. False if the upstream does not say when it expires.
    func isDue(at now: Timestamp) -> Bool {
        guard let expiresAt else { return false }
        return renewsAt.map { $0 <= now } ?? (expiresAt.since(now) < Self.margin)
    }

    func hasEnded(at now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }

    /// Whether a header or a parameter can hold the token.
    static func isSendable(_ token: String) -> Bool { TokenPlace.bearer.accepts(token) }

    /// In bytes of JSON. Of two such tokens a file is made that can be read again.
    static let longest = 16 << 10

    static func isStorable(_ token: String) -> Bool { JSONText.string(token).bytes.count <= longest }
}

/// The file that stores a sign-in: `{"token","refresh_token","expires_at"}`, mode 0600, with `renews_at` for tokens that
/// live briefly.
package struct TokenStore: Sendable {
    package let path: String
    /// The command that signs in, for messages.
    let login: String

    package init(path: String, login: String = "repairminder-sync login") {
        self.path = path
        self.login = login
    }

    private var file: PrivateFile { PrivateFile(path: path, linkAdvice: "delete it, and sign in again") }

    /// Returns once the tokens would survive a power loss. When it throws, the previous ones are still there.
    package func save(_ tokens: Tokens) throws(TokenFileError) {
        var members: [(key: String, value: JSONText)] = [
            ("token", .string(tokens.access)), ("refresh_token", .string(tokens.refresh)),
            ("expires_at", .string(tokens.expiresAt?.description)),
        ]
        if let renewsAt = tokens.renewsAt { members.append(("renews_at", .string(renewsAt.description))) }
        let text = JSONText.object(members: members)
        try file.write(text.bytes + [UInt8(ascii: "\n")])
    }

    /// Which file is there; nil when there is none. Another one after each `save`, by whichever process.
    var identity: PrivateFile.Identity? { file.identity }

    /// Returns once the removal would survive a power loss. False if there was nothing to remove.
    package func remove() throws(TokenFileError) -> Bool { try file.remove() }

    /// Nil before the first sign-in. Throws when the file is not one that `save` writes, or others may read it.
    package func load() throws(TokenFileError) -> Tokens? {
        guard let bytes = try file.read() else { return nil }
        guard let json = try? JSONText(bytes), let access = json["token"]?.string, Tokens.isSendable(access) else {
            throw TokenFileError(message: "\(path) contains no token; run \(login)")
        }
        let time: (String) -> Timestamp? = { name in json[name]?.string.flatMap { Timestamp(iso8601: $0) } }
        return Tokens(
            access: access, refresh: json["refresh_token"]?.string, expiresAt: time("expires_at"),
            renewsAt: time("renews_at"))
    }
}

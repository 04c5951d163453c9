internal import JSONText

/// Reads a call of OAuth 2 that has a given form: `auth.client_credentials` (RFC 6749, 4.4), or `auth.refresh` with a
/// `token_url` (RFC 6749, 6).
struct ClientCredentialsReader {
    enum Grant: String {
        case clientCredentials = "client_credentials"
        case refreshToken = "refresh_token"
    }

    let node: SchemaNode
    var grant = Grant.clientCredentials
    /// The token that is exchanged is a stored credential: the first one, which someone was given in a browser.
    var isFirst = false

    func call() throws(SchemaError) -> SignInCall {
        var keys = [
            "token_url", "client_id", "client_secret", "in", "scope", "audience", "parameters", "token", "expires",
        ]
        if grant == .refreshToken { keys.append("refresh_token") }
        try node.requireKeys(keys)
        let url = try node.required("token_url")
        let client = try credential("client_id")
        let secret = isPublic ? nil : try clientSecret()
        let inBody = try isInBody()
        return SignInCall(
            address: try url.checkedAddress(try url.string(), elsewhere: true),
            basic: inBody ? nil : secret.map { SignInCall.Basic(user: client, password: $0) },
            body: .object(
                try members(client: inBody ? client : nil, secret: inBody ? secret : nil).map {
                    JSONTemplate.Member(name: $0.0, value: $0.1)
                }),
            isForm: true, token: try node.child("token")?.place() ?? Place(paths: ["access_token"]),
            refreshToken: try refreshToken(), expiry: try node.tokenExpiry() ?? .place(Place(paths: ["expires_in"])),
            key: grant == .refreshToken ? "upstream.auth.refresh" : "upstream.auth.client_credentials")
    }

    private func members(
        client: ValueTemplate?, secret: ValueTemplate?
    ) throws(SchemaError) -> [(String, JSONTemplate)] {
        var members = [("grant_type", JSONTemplate.constant(.string(grant.rawValue)))]
        let name = isFirst ? "secret.\(SignInCall.refreshTokenName)" : SignInCall.refreshTokenName
        if grant == .refreshToken, let token = ValueTemplate("{$\(name)}") {
            members.append((SignInCall.refreshTokenName, .text(token)))
        }
        if let client { members.append(("client_id", .text(client))) }
        if let secret { members.append(("client_secret", .text(secret))) }
        for name in ["scope", "audience"] {
            if let value = node.child(name) { members.append((name, .text(try value.credentialTemplate()))) }
        }
        for (name, value) in try node.child("parameters")?.members() ?? [] {
            guard !members.contains(where: { $0.0 == name }) else {
                throw value.error("\(name) is sent already; remove it here")
            }
            members.append((name, .text(try value.credentialTemplate())))
        }
        return members
    }

    /// A client's id and secret are stored credentials of the same name, unless the schema says otherwise.
    private func credential(_ name: String) throws(SchemaError) -> ValueTemplate {
        if let value = node.child(name) { return try value.credentialTemplate() }
        guard let template = ValueTemplate("{$secret.\(name)}") else { throw node.error("expected \(name)") }
        return template
    }

    /// Never written out: a schema is shared, and a credential is not.
    private func clientSecret() throws(SchemaError) -> ValueTemplate {
        let template = try credential("client_secret")
        let isStored = template.placeholders.contains { if case .secret = $0.name { true } else { false } }
        if !isStored, let written = node.child("client_secret") {
            throw written.error("a schema holds no secrets; expected a stored one, such as {$secret.client_secret}")
        }
        return template
    }

    /// A client without a secret (RFC 6749, 2.1), which says only its id.
    private var isPublic: Bool { grant == .refreshToken && node.child("client_secret")?.value.text == "none" }

    private func isInBody() throws(SchemaError) -> Bool {
        guard let place = node.child("in") else { return isPublic }
        switch try place.string() {
        case "basic":
            if isPublic { throw place.error("without a client_secret there is no HTTP Basic; remove in") }
            return false
        case "body": return true
        default: throw place.error("expected basic (the default) or body")
        }
    }

    /// An answer without one keeps the old one (RFC 6749, 6).
    private func refreshToken() throws(SchemaError) -> Place? {
        guard grant == .refreshToken else { return nil }
        return try node.child("refresh_token")?.place() ?? Place(paths: ["refresh_token"])
    }
}

internal import JSONText

/// Reads `auth.client_credentials` (RFC 6749, 4.4): a session whose call has a given form.
struct ClientCredentialsReader {
    let node: SchemaNode

    func call() throws(SchemaError) -> SignInCall {
        try node.requireKeys([
            "token_url", "client_id", "client_secret", "in", "scope", "audience", "parameters", "token", "expires",
        ])
        let url = try node.required("token_url")
        let client = try credential("client_id")
        let secret = try credential("client_secret")
        let inBody = try isInBody()
        var members = [("grant_type", JSONTemplate.constant("client_credentials"))]
        if inBody { members += [("client_id", .text(client)), ("client_secret", .text(secret))] }
        for name in ["scope", "audience"] {
            if let value = node.child(name) { members.append((name, .text(try value.credentialTemplate()))) }
        }
        for (name, value) in try node.child("parameters")?.members() ?? [] {
            guard !members.contains(where: { $0.0 == name }) else {
                throw value.error("\(name) is sent already; remove it here")
            }
            members.append((name, .text(try value.credentialTemplate())))
        }
        return SignInCall(
            address: try url.checkedAddress(try url.string(), elsewhere: true),
            basic: inBody ? nil : SignInCall.Basic(user: client, password: secret),
            body: .object(members.map { JSONTemplate.Member(name: $0.0, value: $0.1) }), isForm: true,
            token: try node.child("token")?.place() ?? Place(paths: ["access_token"]),
            expiry: try node.tokenExpiry() ?? .place(Place(paths: ["expires_in"])),
            key: "upstream.auth.client_credentials")
    }

    /// A client's id and secret are stored credentials of the same name, unless the schema says otherwise.
    private func credential(_ name: String) throws(SchemaError) -> ValueTemplate {
        if let value = node.child(name) { return try value.credentialTemplate() }
        guard let template = ValueTemplate("{$secret.\(name)}") else { throw node.error("expected \(name)") }
        return template
    }

    private func isInBody() throws(SchemaError) -> Bool {
        guard let place = node.child("in") else { return false }
        switch try place.string() {
        case "basic": return false
        case "body": return true
        default: throw place.error("expected basic (the default) or body")
        }
    }
}

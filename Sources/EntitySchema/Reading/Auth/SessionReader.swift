/// Reads `auth.session`: a call that answers a token for stored credentials.
struct SessionReader {
    let node: SchemaNode
    /// What its texts may name.
    var names = TemplateNames(hasSecrets: true)

    func call() throws(SchemaError) -> SignInCall {
        try node.requireKeys([
            "call", "headers", "basic", "body", "encoding", "token", "refresh_token", "expires", "expires_in",
        ])
        let call = SignInCall(
            address: try node.required("call").postAddress(elsewhere: true), headers: try headers(),
            basic: try basic(), body: try body(), isForm: try isForm(), token: try node.required("token").place(),
            refreshToken: try node.child("refresh_token")?.place(), expiry: try node.tokenExpiry(),
            key: "upstream.auth.session")
        guard !call.secretNames.isEmpty else {
            throw node.error("a sign-in sends a stored credential; expected {$secret.name} in body, headers or basic")
        }
        return call
    }

    func headers() throws(SchemaError) -> [SignInCall.Header] {
        var headers: [SignInCall.Header] = []
        for (name, value) in try node.child("headers")?.members() ?? [] {
            try value.checkHeader(name, try value.string())
            headers.append(SignInCall.Header(name: name, value: try value.valueTemplate(names)))
        }
        return headers
    }

    func basic() throws(SchemaError) -> SignInCall.Basic? {
        guard let basic = node.child("basic") else { return nil }
        try basic.requireKeys(["user", "password"])
        return SignInCall.Basic(
            user: try basic.required("user").credentialTemplate(),
            password: try basic.required("password").credentialTemplate())
    }

    func isForm() throws(SchemaError) -> Bool {
        guard let encoding = node.child("encoding") else { return false }
        guard node.child("body") != nil || node.child("send") != nil else {
            throw encoding.error("encoding says how body is written, and there is none; remove it")
        }
        switch try encoding.string() {
        case "json": return false
        case "form": return true
        default: throw encoding.error("expected json or form")
        }
    }

    func body() throws(SchemaError) -> JSONTemplate {
        guard let node = node.child("body") else { return .object([]) }
        guard node.isMapping else { throw node.error("expected a mapping (name: value)") }
        return try node.jsonTemplate(names)
    }
}

extension SchemaNode {
    /// A text that may name stored credentials: `{$secret.password}`.
    func credentialTemplate() throws(SchemaError) -> ValueTemplate {
        try valueTemplate(TemplateNames(hasSecrets: true))
    }
}

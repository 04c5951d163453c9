/// Reads `auth.refresh`: how a token is exchanged for another.
struct RefreshReader {
    let node: SchemaNode

    func refresh() throws(SchemaError) -> UpstreamPlan.Refresh {
        if node.child("token_url") != nil {
            return plan(try ClientCredentialsReader(node: node, grant: .refreshToken).call())
        }
        try node.requireKeys([
            "path", "call", "send", "with", "token", "refresh_token", "expires_in", "expires", "body", "encoding",
            "headers", "basic",
        ])
        if ["body", "encoding", "headers", "basic"].contains(where: { node.child($0) != nil }) {
            return plan(try call())
        }
        return UpstreamPlan.Refresh(
            path: try address(elsewhere: false), send: try send(), token: try node.required("token").place(),
            refreshToken: try node.child("refresh_token")?.place(), expiry: try node.tokenExpiry())
    }

    private func plan(_ call: SignInCall) -> UpstreamPlan.Refresh {
        UpstreamPlan.Refresh(
            path: call.address, call: call, send: SignInCall.refreshTokenName, token: call.token,
            refreshToken: call.refreshToken, expiry: call.expiry)
    }

    /// With a body of its own, or with `send` and more than JSON.
    private func call() throws(SchemaError) -> SignInCall {
        if let with = node.child("with") {
            throw with.error(
                "with: access sends the old access token and nothing else; remove body, encoding, headers and basic")
        }
        if node.child("body") != nil, let send = node.child("send") {
            throw send.error("body says what is sent: write {$\(SignInCall.refreshTokenName)} there and remove send")
        }
        let names = TemplateNames(values: [SignInCall.refreshTokenName], hasSecrets: true)
        let reader = SessionReader(node: node, names: names)
        var call = SignInCall(
            address: try address(elsewhere: true), headers: try reader.headers(), basic: try reader.basic(),
            body: .object([]), isForm: try reader.isForm(),
            token: try node.required("token").place(), refreshToken: try node.child("refresh_token")?.place(),
            expiry: try node.tokenExpiry(), key: "upstream.auth.refresh")
        if let body = node.child("body") {
            call.body = try reader.body()
            let isSent = (call.body.placeholders + call.headers.flatMap(\.value.placeholders)).contains {
                $0.name == .value(SignInCall.refreshTokenName)
            }
            guard isSent else {
                throw body.error("expected {$\(SignInCall.refreshTokenName)}, the token that is exchanged, in a text")
            }
        } else if let token = ValueTemplate("{$\(SignInCall.refreshTokenName)}") {
            call.body = .object([JSONTemplate.Member(name: try node.required("send").string(), value: .text(token))])
        }
        return call
    }

    private func address(elsewhere: Bool) throws(SchemaError) -> String {
        guard let call = node.child("call") else { return try node.required("path").fixedPath() }
        if let path = node.child("path") { throw path.error("call says the path; remove path") }
        return try call.postAddress(elsewhere: elsewhere)
    }

    /// Nil if the access token itself is sent.
    private func send() throws(SchemaError) -> String? {
        guard let with = node.child("with") else { return try node.required("send").string() }
        guard try with.string() == "access" else {
            throw with.error("expected access: the old access token is sent in its usual place; else use send")
        }
        if let send = node.child("send") { throw send.error("with: access sends no refresh token; remove send") }
        if let place = node.child("refresh_token") {
            throw place.error("with: access needs no refresh token; remove refresh_token")
        }
        return nil
    }
}

extension SchemaNode {
    /// `expires`, or the older `expires_in`.
    func tokenExpiry() throws(SchemaError) -> TokenExpiry? {
        guard let expires = child("expires") else {
            guard let older = child("expires_in") else { return nil }
            return .place(try older.place())
        }
        if let other = child("expires_in") { throw other.error("expires says the same; remove expires_in") }
        if expires.value.text == "jwt" { return .jwt }
        return .place(try expires.place())
    }

    /// `POST /path`; with `elsewhere` also `POST https://host/path`.
    func postAddress(elsewhere: Bool) throws(SchemaError) -> String {
        let words = try string().split(separator: " ").map(String.init)
        guard words.count == 2, words[0] == "POST" else {
            throw error("expected POST and a path, such as POST /api/auth/login")
        }
        return try checkedAddress(words[1], elsewhere: elsewhere)
    }

    /// A path below the base address. With `elsewhere` also a whole address on another host: with TLS, or on this machine,
    /// because credentials are sent there.
    func checkedAddress(_ text: String, elsewhere: Bool) throws(SchemaError) -> String {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw error("expected an address in ASCII") }
        try refuseTemplate(in: text)
        if text.hasPrefix("/") { return text }
        guard elsewhere else { throw error("expected a path that begins with /") }
        let scheme = text.hasPrefix("https://") ? "https://" : "http://"
        let rest = text.dropFirst(scheme.count)
        guard text.hasPrefix(scheme), let host = rest.split(separator: "/", maxSplits: 1).first, !host.contains("@"),
            rest.first != "/", !text.contains("#"), !text.contains("\\")
        else {
            throw error("expected a path that begins with /, or an address such as https://login.example.com/token")
        }
        guard scheme == "https://" || PlainHTTP.isLoopback(host) else {
            throw error("credentials are sent to \(host) without encryption; expected https://")
        }
        return text
    }
}

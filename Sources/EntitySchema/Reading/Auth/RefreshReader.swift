/// Reads `auth.refresh`: how a token is exchanged for another.
struct RefreshReader {
    let node: SchemaNode

    func refresh() throws(SchemaError) -> UpstreamPlan.Refresh {
        try node.requireKeys(["path", "call", "send", "with", "token", "refresh_token", "expires_in", "expires"])
        return UpstreamPlan.Refresh(
            path: try path(), send: try send(), token: try node.required("token").place(),
            refreshToken: try node.child("refresh_token")?.place(), expiry: try node.tokenExpiry())
    }

    private func path() throws(SchemaError) -> String {
        guard let call = node.child("call") else { return try node.required("path").urlPath() }
        if let path = node.child("path") { throw path.error("call says the path; remove path") }
        return try call.postAddress(elsewhere: false)
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

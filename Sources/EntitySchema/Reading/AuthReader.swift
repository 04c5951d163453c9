/// Reads `upstream.auth`: where the token is sent, how an expired one is refreshed and how you get the first one.
struct AuthReader {
    let node: SchemaNode

    init(node: SchemaNode) throws(SchemaError) {
        self.node = node
        try node.requireKeys(["type", "send", "session", "client_credentials", "refresh", "check", "login", "logout"])
        if let type = node.child("type"), try type.string() != "bearer" {
            throw type.error("expected bearer; for a token that is sent otherwise, set send")
        }
    }

    /// `headers`: those that every request has anyway.
    func tokenPlace(beside headers: [UpstreamPlan.Header]) throws(SchemaError) -> TokenPlace {
        guard let send = node.child("send") else { return .bearer }
        try send.requireKeys(["header", "value", "query", "basic"])
        let ways = ["header", "query", "basic"].filter { send.child($0) != nil }
        guard ways.count == 1 else { throw send.error("expected one of header, query and basic") }
        if let value = send.child("value"), ways != ["header"] {
            throw value.error("value belongs to header; remove it")
        }
        switch ways[0] {
        case "basic":
            guard try send.required("basic").boolean() else { throw send.error("expected basic: true") }
            return .basic
        case "query": return .query(name: try send.required("query").string())
        default:
            return try header(send, beside: headers)
        }
    }

    private func header(
        _ send: SchemaNode, beside headers: [UpstreamPlan.Header]
    ) throws(SchemaError) -> TokenPlace {
        let node = try send.required("header")
        let name = try node.string()
        let value = send.child("value")
        let text = try value?.string() ?? Self.token
        try (value ?? node).checkHeader(name, text)
        if headers.contains(where: { $0.name.lowercased() == name.lowercased() }) {
            throw node.error("\(name) is in upstream.headers too; remove it there")
        }
        let parts = text.split(separator: Self.token, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else {
            throw (value ?? node).error("expected a text with \(Self.token) once, such as Token \(Self.token)")
        }
        return .header(name: name, before: parts[0], after: parts[1])
    }

    /// What stands for the token.
    private static let token = "{$token}"

    func refresh() throws(SchemaError) -> UpstreamPlan.Refresh? {
        guard let refresh = node.child("refresh") else {
            if let place = node.child("session")?.child("refresh_token") {
                throw place.error("auth.refresh would send it, and there is none; add auth.refresh or remove this key")
            }
            return nil
        }
        if node.child("send")?.child("basic") != nil {
            throw refresh.error("a user:password is never refreshed; remove refresh, or send.basic")
        }
        let plan = try RefreshReader(node: refresh).refresh()
        // Tokens of a login may have one.
        if plan.send != nil, node.child("login") == nil, let name = sessionWithoutRefreshToken {
            throw refresh.error(
                "\(name) gives no refresh token to send; add session.refresh_token, or remove refresh: the daemon signs "
                    + "in again by itself")
        }
        return plan
    }

    private var sessionWithoutRefreshToken: String? {
        if let session = node.child("session") { return session.child("refresh_token") == nil ? "session" : nil }
        return node.child("client_credentials") == nil ? nil : "client_credentials"
    }

    func session() throws(SchemaError) -> SignInCall? {
        let session = node.child("session")
        guard let node = session ?? node.child("client_credentials") else { return try firstRefresh() }
        if session != nil, let other = self.node.child("client_credentials") {
            throw other.error("session is set too, and there is one way to sign in; remove one of them")
        }
        if let basic = self.node.child("send")?.child("basic") {
            let name = session == nil ? "client_credentials" : "session"
            throw basic.error("\(name) answers a token, which is not a user:password; remove one of them")
        }
        return try session == nil ? ClientCredentialsReader(node: node).call() : SessionReader(node: node).call()
    }

    /// Standard OAuth without another way to sign in begins with a stored refresh token.
    private func firstRefresh() throws(SchemaError) -> SignInCall? {
        guard let refresh = node.child("refresh"), refresh.child("token_url") != nil, node.child("login") == nil else {
            return nil
        }
        return try ClientCredentialsReader(node: refresh, grant: .refreshToken, isFirst: true).call()
    }

    func check() throws(SchemaError) -> TokenCheck? {
        guard let check = node.child("check") else { return nil }
        try check.requireKeys(["call", "account"])
        let call = try check.required("call")
        let words = try call.string().split(separator: " ").map(String.init)
        guard words.count == 2, ["GET", "POST"].contains(words[0]), words[1].hasPrefix("/") else {
            throw call.error("expected GET (or POST) and a path, such as GET /api/me")
        }
        try call.refuseTemplate(in: words[1])
        return TokenCheck(method: words[0], path: words[1], account: try check.child("account")?.place())
    }

    func logout() throws(SchemaError) -> String? { try node.child("logout")?.fixedPath() }

    // MARK: Login

    func login() throws(SchemaError) -> [LoginWay] {
        guard let login = node.child("login") else { return [] }
        guard node.child("refresh") != nil else {
            throw login.error("login needs refresh beside it, which says where a response has the tokens; add refresh")
        }
        var ways: [LoginWay] = []
        for (name, way) in try login.members() {
            _ = try way.identifier(name)
            ways.append(LoginWay(name: name, steps: try steps(way)))
        }
        return ways
    }

    private func steps(_ node: SchemaNode) throws(SchemaError) -> [LoginStep] {
        var steps: [LoginStep] = []
        var known: [String] = []
        for element in try node.elements() {
            let step = try step(element)
            for name in step.send where !known.contains(name) {
                let hint = Suggestion.hint(for: name, among: known)
                throw try element.required("send").error("no earlier step asks for or keeps \(name)\(hint)")
            }
            known += step.questions.map(\.name) + step.keep.map(\.name)
            steps.append(step)
        }
        guard !steps.isEmpty else { throw node.error("expected a list of calls") }
        return steps
    }

    private func step(_ node: SchemaNode) throws(SchemaError) -> LoginStep {
        try node.requireKeys(["call", "ask", "secret", "send", "keep"])
        let call = try node.required("call")
        let words = try call.string().split(separator: " ")
        guard words.count == 2, words[0] == "POST", words[1].hasPrefix("/") else {
            throw call.error("expected POST and a path, such as POST /api/auth/login")
        }
        try call.refuseTemplate(in: String(words[1]))
        let secrets = try node.child("secret")?.strings() ?? []
        var questions: [LoginStep.Question] = []
        for (name, text) in try node.child("ask")?.members() ?? [] {
            questions.append(
                LoginStep.Question(name: name, text: try text.string(), secret: secrets.contains(name)))
        }
        if let stray = secrets.first(where: { name in !questions.contains { $0.name == name } }) {
            throw try node.required("secret").error("\(stray) is not asked for here; expected names from ask")
        }
        var keep: [LoginStep.Keepsake] = []
        for (name, place) in try node.child("keep")?.members() ?? [] {
            keep.append(LoginStep.Keepsake(name: name, place: try place.place()))
        }
        return LoginStep(
            path: String(words[1]), questions: questions, send: try node.child("send")?.strings() ?? [], keep: keep)
    }
}

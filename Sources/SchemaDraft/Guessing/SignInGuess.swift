/// How requests carry the token, from the document's security schemes.
struct SignInGuess {
    let document: OpenAPIDocument
    /// The calls that the draft uses.
    let operations: [APIOperation]

    struct Found {
        var signIn: Guess<DraftUpstream.SignIn>
        var todo: String?
        /// What goes along with the token.
        var headers: [(name: String, value: Guess<String>)] = []
    }

    func found() -> Found {
        if let place = document.asked?.signIn {
            return Found(signIn: Guess(DraftUpstream.SignIn(place), "as the token was sent"))
        }
        let schemes = document.securitySchemes
        guard !schemes.isEmpty else {
            return TokenParameter(calls: operations).found(document)
                ?? Found(
                    signIn: Guess(
                        .none,
                        document.isObserved ? "it answered without a token" : "the document declares no way to sign in")
                )
        }
        let usable = used().lazy.compactMap { name in schemes.first { $0.name == name } }
        let all = Array(usable) + schemes
        if let pair = pair(schemes) { return pair }
        for (name, scheme) in all {
            if isOnlyForPrograms(scheme), all.contains(where: { Self.isBearer($0.value) }) { continue }
            let reason = document.isObserved ? "as the token was sent" : "the security scheme \(name)"
            if let found = Self.found(scheme, reason, name, document) { return found }
        }
        return Found(
            signIn: Guess(.none, nil),
            todo: """
                auth: the document signs in by \(schemes[0].name), which the daemon cannot: see docs/schema/sign-in.md
                """)
    }

    /// Several headers required together: one has the token, and each installation sets the others. Those that are secret, too,
    /// are stored.
    private func pair(_ schemes: [(name: String, value: DocumentValue)]) -> Found? {
        let names = together(schemes)
        let needed = names.compactMap { name in schemes.first { $0.name == name } }
        let headers = needed.compactMap { Self.header($0.value) }
        let secret = headers.filter(Self.isSecret)
        guard headers.count > 1, headers.count == names.count,
            let token = secret.first(where: { Words.lastWord(of: $0) == "token" }) ?? secret.last
        else { return nil }
        let others = headers.filter { $0 != token }.map { name in
            let own = PathFiller.setting(name)
            return secret.contains(name)
                ? (name, Guess("{$secret.\(own)}", "requests need it: set upstream.secrets"))
                : (name, Guess(DraftSetting.text(own), "requests need it: set upstream.settings"))
        }
        return Found(
            signIn: Guess(.header(name: token, value: nil), "\(names.joined(separator: " and ")) are needed together"),
            headers: others)
    }

    /// The schemes that most calls need. A header that only names the user needs the one with the token, even where the document
    /// has them as alternatives.
    private func together(_ schemes: [(name: String, value: DocumentValue)]) -> [String] {
        let names = usual()
        guard names.count == 1,
            let own = schemes.first(where: { $0.name == names[0] }).flatMap({ Self.header($0.value) }),
            ["user", "username", "login", "email"].contains(Words.lastWord(of: own))
        else { return names }
        let secret = schemes.filter { Self.header($0.value).map(Self.isSecret) == true }
        return secret.count == 1 ? names + secret.map(\.name) : names
    }

    /// The header that a scheme sends.
    private static func header(_ scheme: DocumentValue) -> String? {
        guard scheme["type"]?.text == "apiKey", scheme["in"]?.text == "header" else { return nil }
        return scheme["name"]?.text.flatMap { isHeader($0) ? $0 : nil }
    }

    private static func isSecret(_ header: String) -> Bool {
        ["token", "secret", "key", "password"].contains(Words.lastWord(of: header))
    }

    private func isOnlyForPrograms(_ scheme: DocumentValue) -> Bool {
        scheme["type"]?.text?.lowercased() == "oauth2"
            && (scheme["flows"]?["clientCredentials"] != nil || scheme["flow"]?.text == "application")
    }

    private static func isBearer(_ scheme: DocumentValue) -> Bool {
        scheme["type"]?.text?.lowercased() == "http" && scheme["scheme"]?.text?.lowercased() == "bearer"
    }

    /// The names of the schemes that most calls need together.
    private func usual() -> [String] {
        let needed = operations.map { $0.security ?? document.security }
        var best: (names: [String], count: Int) = ([], 0)
        for names in Set(needed).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let count = needed.count { $0 == names }
            if count > best.count { best = (names, count) }
        }
        return best.names
    }

    /// Names of schemes, those of most calls first.
    private func used() -> [String] {
        var counts: [String: Int] = [:]
        for operation in operations {
            for name in operation.security ?? document.security { counts[name, default: 0] += 1 }
        }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
    }

    static func found(
        _ scheme: DocumentValue, _ reason: String, _ name: String, _ document: OpenAPIDocument
    ) -> Found? {
        switch scheme["type"]?.text?.lowercased() {
        case "http":
            switch scheme["scheme"]?.text?.lowercased() {
            case "basic": return Found(signIn: Guess(.basic, reason))
            case "bearer": return Found(signIn: Guess(.bearer, reason))
            default: return word(scheme["scheme"]?.text ?? "", reason)
            }
        case "basic": return Found(signIn: Guess(.basic, reason))
        case "apikey": return key(scheme, reason, AuthorizationWord(scheme, name, document))
        case "oauth2": return oauth(scheme, reason)
        case "openidconnect":
            return Found(
                signIn: Guess(.bearer, reason),
                todo: "upstream.token_file: another program signs in and writes the token there, see docs/config.md")
        default: return nil
        }
    }

    /// Schemes of HTTP that send more than a token.
    private static let signed: Set = [
        "digest", "hoba", "mutual", "negotiate", "oauth", "vapid", "dpop", "hmac", "signature",
    ]

    /// `Authorization: Token …`, with the word that the document names as the scheme.
    private static func word(_ scheme: String, _ reason: String) -> Found? {
        let name = scheme.lowercased()
        guard scheme.wholeMatch(of: /[A-Za-z][A-Za-z0-9-]{1,30}/) != nil, !signed.contains(name),
            !name.hasPrefix("scram-"), !name.hasPrefix("aws")
        else { return nil }
        return Found(signIn: Guess(.header(name: "Authorization", value: "\(scheme) {$token}"), reason))
    }

    private static func key(_ scheme: DocumentValue, _ reason: String, _ word: AuthorizationWord) -> Found? {
        guard let name = scheme["name"]?.text, isHeader(name) || scheme["in"]?.text == "query" else { return nil }
        switch scheme["in"]?.text {
        case "query":
            guard name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
            return Found(signIn: Guess(.query(name), reason))
        case "header" where name.lowercased() == "authorization":
            switch word.text?.lowercased() {
            case "bearer ": return Found(signIn: Guess(.bearer, reason))
            case "basic ": return Found(signIn: Guess(.basic, reason))
            case .some:
                return Found(signIn: Guess(.header(name: name, value: "\(word.text ?? ""){$token}"), reason))
            case nil: break
            }
            return Found(
                signIn: Guess(.header(name: name, value: nil), reason),
                todo: "auth.send.value: a text such as \"Token {$token}\", if the header has more than the token")
        case "header": return Found(signIn: Guess(.header(name: name, value: nil), reason))
        default: return nil
        }
    }

    private static func oauth(_ scheme: DocumentValue, _ reason: String) -> Found {
        // People sign in in another way, which has a token for them.
        let isForPeople = scheme["flows"]?["authorizationCode"] != nil
        let flow = isForPeople ? nil : scheme["flows"]?["clientCredentials"]
        let isOld = ["application", "clientCredentials"].contains(scheme["flow"]?.text ?? "")
        if let url = (flow?["tokenUrl"] ?? (isOld ? scheme["tokenUrl"] : nil))?.text, let address = address(url) {
            let scopes = (flow ?? scheme)["scopes"]?.members.map(\.name).filter { !$0.contains("{") } ?? []
            return Found(
                signIn: Guess(
                    .clientCredentials(tokenURL: address, scope: scopes.count == 1 ? scopes[0] : nil), reason),
                todo: scopes.count > 1
                    ? "auth.client_credentials.scope: those that you need of \(scopes.prefix(6).joined(separator: ", "))"
                    : nil)
        }
        if !isForPeople, let session = session(scheme) { return Found(signIn: Guess(.bearer, reason), todo: session) }
        return Found(
            signIn: Guess(.bearer, reason),
            todo:
                "upstream.token_file: another program signs in with OAuth and writes the token there, see docs/config.md"
        )
    }

    /// How the daemon gets the token by itself for the name and the password of a user, as FastAPI has it.
    private static func session(_ scheme: DocumentValue) -> String? {
        let isOld = scheme["flow"]?.text == "password"
        guard let url = (scheme["flows"]?["password"]?["tokenUrl"] ?? (isOld ? scheme["tokenUrl"] : nil))?.text,
            let address = address(url.contains("://") || url.hasPrefix("/") ? url : "/\(url)")
        else { return nil }
        return "auth.session: { call: POST \(address), encoding: form, body: { grant_type: password, "
            + "username: \"{$setting.username}\", password: \"{$secret.password}\" }, token: access_token }, "
            + "so that the daemon signs in by itself; or upstream.token_file"
    }

    /// Credentials go out encrypted, or to a path of the same host.
    private static func address(_ url: String) -> String? {
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"{}#\\\"".utf8.contains($0) }) else { return nil }
        if url.hasPrefix("/") { return url }
        guard url.hasPrefix("https://"), let host = url.dropFirst(8).split(separator: "/").first, !host.contains("@")
        else {
            return nil
        }
        return url
    }

    static func isHeader(_ name: String) -> Bool {
        let own = ["accept", "connection", "contentlength", "contenttype", "expect", "host", "ifmatch", "upgrade"]
        return !name.isEmpty && !own.contains(Words.folded(name))
            && name.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte)
                    || (0x61...0x7A).contains(byte | 0x20)
            }
    }
}

/// The parameter of the calls that carries the token, in a document that declares no way to sign in.
struct TokenParameter {
    /// Those of the draft, which count before others.
    let calls: [APIOperation]

    func found(_ document: OpenAPIDocument) -> SignInGuess.Found? {
        let all = calls + document.operations
        guard !document.isObserved, let parameter = all.lazy.flatMap(\.parameters).first(where: \.isToken) else {
            return nil
        }
        let members = [
            ("type", "apiKey"), ("in", parameter.place), ("name", parameter.name),
            ("description", parameter.description ?? parameter.shape.example?.text ?? ""),
        ]
        let scheme = DocumentValue.object(DocumentObject(members.map { ($0.0, .scalar($0.1, isPlain: false)) }))
        return SignInGuess.found(scheme, "calls have the parameter \(parameter.name)", "", document)
    }
}

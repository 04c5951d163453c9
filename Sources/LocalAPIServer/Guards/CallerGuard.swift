internal import CacheStore
package import CallerLookup
package import SocketServer

/// Decides who may call, before anything else in a request is read.
///
/// A request must name this host (Host), must not come from a foreign web page (Origin, Referer, Sec-Fetch-Site), and
/// its caller must be known: by the user that the kernel reports, by the token, or by a session. No CORS field is ever
/// sent, so no page can read an answer.
package struct CallerGuard: Sendable {
    private let token: [UInt8]
    private let owners: Set<UInt32>
    private let group: GroupMembers?
    private let isRemoteAllowed: Bool
    private let hosts: OwnHosts
    private let tcpWithoutToken: TokenlessTCP
    private let refusals: RateLimit
    private let calls: RateLimit?
    /// Limits how often a caller may try a token.
    let signIns: RateLimit
    let sessions: Sessions

    /// `owners` are the ids of users who need no token; members of `group` need none either. If callers from other
    /// machines are allowed, every caller over TCP needs the token, and Host may name anything. Else those over TCP must call
    /// by one of `hosts`, and `tcpWithoutToken` says what they may do without a token. `rate`: the calls a second that one
    /// caller may make; nil for no limit.
    package init(
        token: String, owners: Set<UInt32>, group: GroupMembers?, isRemoteAllowed: Bool = false,
        hosts: OwnHosts = .all, tcpWithoutToken: TokenlessTCP = .all, rate: Int? = nil,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) }
    ) {
        self.token = Array(token.utf8)
        self.owners = owners
        self.group = group
        self.isRemoteAllowed = isRemoteAllowed
        self.hosts = hosts
        self.tcpWithoutToken = tcpWithoutToken
        refusals = RateLimit(perSecond: 10, burst: 100, now: now)
        calls = rate.map { RateLimit(perSecond: $0, burst: 2 * $0, now: now) }
        signIns = RateLimit(perSecond: 1, burst: 10, now: now)
        sessions = Sessions(now: now, random: random)
    }

    // MARK: Callers

    /// The caller of a connection, by the credentials that the kernel reports; nil credentials make an unknown caller.
    /// May query the user database.
    package func caller(_ credentials: PeerCredentials?, over peer: Peer) -> Caller {
        guard let credentials else { return .unknown }
        let user = credentials.user
        if isRemoteAllowed, case .tcp = peer { return Caller(user: user, access: .stranger) }
        if owners.contains(user) { return Caller(user: user, access: .owner) }
        let isMember = group?.includes(credentials) ?? false
        return Caller(user: user, access: isMember ? .member : .stranger)
    }

    // MARK: Requests

    /// `isOpen`: unknown callers may make this call.
    func check(_ request: Request, isOpen: Bool = false) throws(Problem) {
        try checkHead(request, isOpen: isOpen)
        if !isOpen, let wait = calls?.take(RateLimit.Key(request)) { throw .flood(wait) }
        try requireUncoded(request)
        try requireJSON(request)
    }

    /// What can be checked before the body has arrived.
    func checkHead(_ request: Request, isOpen: Bool) throws(Problem) {
        try requireOwnHost(request)
        try requireNoForeignPage(request)
        try requireNoServiceWorker(request)
        if !isOpen { try requireKnown(request) }
    }

    private func requireKnown(_ request: Request) throws(Problem) {
        guard !isKnownWithoutSession(request), try !hasSession(request) else { return request.noteKnown() }
        if let wait = refusals.take(RateLimit.Key(request)) { throw .flood(wait) }
        let advice = "send Authorization: Bearer with the token in the daemon's api-token file, or use its Unix socket"
        let isKnown = request.caller.access != .stranger
        let reason = isKnown ? "listen.tcp_without_token is \(tcpWithoutToken.rawValue): " : ""
        throw Problem(
            .tokenRequired, reason + advice, headers: [("WWW-Authenticate", "Bearer")],
            refusal: isKnown ? .noToken : .unknown)
    }

    func isKnownWithoutSession(_ request: Request) -> Bool {
        request.caller.access != .stranger && !needsToken(request) || carriesToken(request)
    }

    /// Whether a known caller needs the token for this call.
    private func needsToken(_ request: Request) -> Bool {
        guard case .tcp = request.peer else { return false }
        return switch tcpWithoutToken {
        case .all: false
        case .reads: !Self.isRead(request)
        case .never: true
        }
    }

    static func isRead(_ request: Request) -> Bool { request.method == "GET" || request.method == "HEAD" }

    /// Stops DNS rebinding: a foreign name that resolves to this machine is refused. From a browser, so is one of this
    /// machine's that leads to other addresses than the daemon's as well.
    private func requireOwnHost(_ request: Request) throws(Problem) {
        if isRemoteAllowed { return }
        guard let host = request.headers[single: "Host"] else {
            throw forbidden("the request has no Host field; send the name that you call, \(hosts.advice)", .otherHost)
        }
        let name = Self.name(of: host)
        // Nearly always so; for the rest, the request is copied.
        if hosts.includes(name) { return }
        if let refusal = hosts.refusal(of: name, fromBrowser: Self.mayBeFromBrowser(request)) {
            throw forbidden(refusal, .otherHost)
        }
    }

    /// A script of a page can leave out none of what Chromium, Firefox and Safari add here. No browser calls a Unix socket.
    private static func mayBeFromBrowser(_ request: Request) -> Bool {
        if case .unix = request.peer { return false }
        let added = ["Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest", "Origin", "Referer", "Cookie"]
        return added.contains { !request.headers[all: $0].isEmpty }
            || request.headers[all: "User-Agent"].contains { $0.hasPrefix("Mozilla/") }
    }

    private func requireNoForeignPage(_ request: Request) throws(Problem) {
        for field in ["Origin", "Referer"] {
            for value in request.headers[all: field]
            where !isOwn(origin: value, host: request.headers[single: "Host"] ?? "") {
                throw forbidden("a web page at \(value.prefix(100)) may not call this API", .webPage)
            }
        }
        for site in request.headers[all: "Sec-Fetch-Site"] where !["same-origin", "none"].contains(site) {
            throw forbidden("a web page of another site may not call this API", .webPage)
        }
    }

    /// Our pages have no service worker. One that asks for its script comes from a page that another program showed at this
    /// address while the daemon was stopped, and shows it again instead of ours: the answer makes the browser forget it.
    private func requireNoServiceWorker(_ request: Request) throws(Problem) {
        guard !request.headers[all: "Service-Worker"].isEmpty else { return }
        throw Problem(
            .foreignPage, "the daemon's pages have no service worker; the browser is told to remove it",
            headers: [("Clear-Site-Data", #""storage", "cache""#)], refusal: .webPage)
    }

    /// A compressed body could take any amount of memory.
    private func requireUncoded(_ request: Request) throws(Problem) {
        guard !request.body.isEmpty || request.stream != nil else { return }
        let codings = request.headers[all: "Content-Encoding"]
        guard codings.contains(where: { $0.lowercased() != "identity" }) else { return }
        throw Problem(
            .unsupportedMediaType, "send the body as it is, without Content-Encoding",
            headers: [("Accept-Encoding", "identity")])
    }

    /// Any web page can send a form anywhere, even an empty one; it cannot send JSON.
    private func requireJSON(_ request: Request) throws(Problem) {
        // Only PUT has a body that streams, and forms cannot use it.
        guard request.stream == nil else { return }
        let types = request.headers[all: "Content-Type"]
        guard !request.body.isEmpty || !(Self.isRead(request) || types.isEmpty) else { return }
        let media = types.count == 1 ? PatchFormat.mediaType(types[0]) : ""
        let isPatch = request.method == "PATCH"
        guard media == PatchFormat.json || isPatch && media == PatchFormat.mergePatch else {
            guard !Self.isRead(request) else {
                let advice = "write filters into the address, as in ?status=ready"
                throw .body("", "a \(request.method) takes no body; \(advice)", .unexpectedBody)
            }
            let advice = request.body.isEmpty ? "leave out Content-Type, or send" : "send the body as Content-Type:"
            throw Problem(
                .unsupportedMediaType, "\(advice) application/json",
                headers: [isPatch ? ("Accept-Patch", PatchFormat.ofRecords) : ("Accept", PatchFormat.json)])
        }
    }

    private func carriesToken(_ request: Request) -> Bool {
        // Bytes that are not UTF-8 have become U+FFFD, so that one could not be told from another.
        guard let text = request.headers[single: "Authorization"], !text.unicodeScalars.contains("\u{FFFD}") else {
            return false
        }
        let field = text.utf8
        guard field.count > 7, field.prefix(7).map({ $0 | 0x20 }).elementsEqual("bearer ".utf8) else { return false }
        return isToken(field.dropFirst(7))
    }

    func isToken(_ given: some Collection<UInt8>) -> Bool { !token.isEmpty && SecretText.isEqual(given, token) }

    private func forbidden(_ detail: String, _ refusal: RefusedCaller) -> Problem {
        Problem(refusal == .otherHost ? .foreignHost : .foreignPage, detail, refusal: refusal)
    }

    /// Whether a page comes from the host and port that it calls. A page from another port is foreign.
    private func isOwn(origin: String, host: String) -> Bool {
        // Behind a proxy that terminates TLS, our own pages have https origins.
        for scheme in isRemoteAllowed ? ["http://", "https://"] : ["http://"] where origin.hasPrefix(scheme) {
            let authority = origin.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            return !host.isEmpty && authority.lowercased() == host.lowercased()
        }
        return false
    }

    /// A host without its port.
    private static func name(of host: consuming String) -> String {
        host.withUTF8 { bytes in
            var end = bytes.count
            while end > 0, bytes[end - 1] &- 0x30 < 10 { end -= 1 }
            let hasPort = end > 0 && bytes[end - 1] == UInt8(ascii: ":")
            return String(decoding: bytes[..<(hasPort ? end - 1 : bytes.count)], as: UTF8.self).lowercased()
        }
    }
}

/// What a caller that the kernel names may do over TCP without the token.
package enum TokenlessTCP: String, CaseIterable, Sendable {
    case reads, all, never
}

extension Problem {
    static func flood(_ wait: Duration) -> Problem {
        let seconds = wait.components.seconds + 1
        return Problem(
            .tooManyRequests, "this caller asks too often; wait \(seconds) s",
            headers: [("Retry-After", String(seconds))], refusal: .tooManyCalls)
    }
}

extension RateLimit.Key {
    package init(_ request: Request) { self.init(request.caller, request.peer) }
}

extension ReadCaller {
    init(_ request: Request) {
        var address = ""
        if case .tcp(let remote, _) = request.peer { address = remote.address }
        let user = request.caller.user
        self.init(
            user: user, address: user == nil ? address : "", mayTakeAll: request.caller.access == .owner)
    }
}

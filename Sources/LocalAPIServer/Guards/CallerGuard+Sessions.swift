internal import SocketServer

/// Sessions: a browser cannot send the token with each request, so its reader gives it once and gets a cookie.
extension CallerGuard {
    /// Our page sends it with each write. Another site's page cannot, because the API allows no such request (CORS).
    static let pageHeader = "X-Repairminder-Page"

    /// Returns the cookie of a new session; throws if the token is not right, or after too many calls.
    func beginSession(token: String, _ request: Request) throws(Problem) -> String {
        if let wait = signIns.take(RateLimit.Key(request)) { throw .flood(wait) }
        guard isToken(token.utf8) else {
            throw Problem(
                .tokenRequired, "this is not the daemon's token; it is in the file api-token of its state_dir",
                headers: [("WWW-Authenticate", "Bearer")], refusal: .unknown)
        }
        request.noteKnown()
        return Self.cookie(sessions.begin(for: Sessions.Owner(request)), for: request)
    }

    /// Returns the cookie that removes the session's; throws for a write that is not from our page.
    func endSession(_ request: Request) throws(Problem) -> String {
        guard try hasSession(request) else { return Self.cookie("", for: request) }
        for id in Self.ids(of: request) { sessions.end(id, by: Sessions.Owner(request)) }
        return Self.cookie("", for: request)
    }

    /// Whether a session lets the caller in; throws for a write that is not from our page.
    func hasSession(_ request: Request) throws(Problem) -> Bool {
        let owner = Sessions.Owner(request)
        guard Self.ids(of: request).contains(where: { sessions.use($0, by: owner) }) else { return false }
        guard Self.isRead(request) || Self.isFromPage(request) else {
            throw Problem(
                .foreignPage, "a write with the cookie of a session needs Origin and \(Self.pageHeader)",
                refusal: .webPage)
        }
        return true
    }

    /// Whether an answer that takes long may go on: the session that let its caller in, if any, has not ended. The answer
    /// itself does not keep the session from ending.
    func mayContinue(_ request: Request) -> Bool {
        guard !isKnownWithoutSession(request) else { return true }
        let owner = Sessions.Owner(request)
        return Self.ids(of: request).contains { sessions.has($0, by: owner) }
    }

    /// A foreign Origin was refused before.
    private static func isFromPage(_ request: Request) -> Bool {
        request.headers[single: "Origin"] != nil && request.headers[single: pageHeader] != nil
    }

    // MARK: The cookie

    /// An empty id removes it. A page that came over TLS gets it back over TLS only.
    private static func cookie(_ id: String, for request: Request) -> String {
        let isEncrypted = request.headers[single: "Origin"]?.hasPrefix("https://") ?? false
        return "\(name(for: request))=\(id); Path=/; HttpOnly; SameSite=Strict"
            + (isEncrypted ? "; Secure" : "") + (id.isEmpty ? "; Max-Age=0" : "")
    }

    /// All ports of a host share its cookies, so that of each daemon has its port.
    private static func name(for request: Request) -> String {
        let host = request.headers[single: "Host"] ?? ""
        let port = host.utf8.reversed().prefix { $0 &- 0x30 < 10 }.reversed()
        let hasPort = port.count < host.utf8.count && !port.isEmpty && host.dropLast(port.count).hasSuffix(":")
        return "repairminder-session" + (hasPort ? "-\(String(decoding: port, as: UTF8.self))" : "")
    }

    private static func ids(of request: Request) -> [String] {
        let name = name(for: request)
        return request.headers[all: "Cookie"].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == name else { return nil }
            return String(parts[1])
        }
    }
}

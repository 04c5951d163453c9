internal import Glibc
internal import SocketServer

/// Decides who may call, before anything else is looked at.
///
/// A caller must mean us (Host), must not be a web page of somebody else's (Origin, Referer, Sec-Fetch-Site), and must be
/// known: by the credentials of the Unix socket, or by the token.
package struct CallerGuard: Sendable {
    private let token: [UInt8]
    private let allowedUsers: Set<UInt32>
    private let allowedGroup: UInt32?
    private let isRemoteAllowed: Bool
    private static let ownHosts: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    /// `allowedUsers` and `allowedGroup` are user and group ids that need no token on the Unix socket. Where callers from
    /// other machines are allowed they may name this one as they please; they need the token anyway.
    package init(token: String, allowedUsers: Set<UInt32>, allowedGroup: UInt32?, isRemoteAllowed: Bool = false) {
        self.isRemoteAllowed = isRemoteAllowed
        self.token = Array(token.utf8)
        self.allowedUsers = allowedUsers
        self.allowedGroup = allowedGroup
    }

    func check(_ request: Request) throws(Problem) {
        try requireOwnHost(request)
        try requireNoForeignPage(request)
        try requireJSON(request)
        // Whoever asks whether the daemon is alive may know it.
        if request.path == "/healthz" { return }
        guard isKnown(request.peer) || carriesToken(request) else {
            throw Problem(
                status: 401, title: "Unauthorized",
                detail:
                    "send Authorization: Bearer with the token in the daemon's api-token file, or use its Unix socket",
                headers: [("WWW-Authenticate", "Bearer")])
        }
    }

    /// A name that was rebound to this machine by somebody's DNS is not ours.
    private func requireOwnHost(_ request: Request) throws(Problem) {
        if isRemoteAllowed { return }
        guard let host = request.headers[single: "Host"], Self.ownHosts.contains(Self.name(of: host)) else {
            throw forbidden("the Host field names another machine; call localhost, 127.0.0.1 or [::1]")
        }
    }

    private func requireNoForeignPage(_ request: Request) throws(Problem) {
        for field in ["Origin", "Referer"] {
            for value in request.headers[all: field] where !Self.isOwn(origin: value) {
                throw forbidden("a web page at \(value.prefix(100)) may not call this API")
            }
        }
        for site in request.headers[all: "Sec-Fetch-Site"] where !["same-origin", "none"].contains(site) {
            throw forbidden("a web page of another site may not call this API")
        }
    }

    private func requireJSON(_ request: Request) throws(Problem) {
        guard !request.body.isEmpty else { return }
        let type = request.headers[single: "Content-Type"] ?? ""
        let media = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        guard media == "application/json" else {
            throw Problem(
                status: 415, title: "Unsupported media type", detail: "send the body as Content-Type: application/json")
        }
    }

    private func isKnown(_ peer: Peer) -> Bool {
        guard case .unix(_, let user, let group) = peer else { return false }
        return allowedUsers.contains(user) || group == allowedGroup
            || (allowedGroup.map { isMember(user, of: $0) } ?? false)
    }

    /// Whether the group is among the user's supplementary ones.
    private func isMember(_ user: UInt32, of group: UInt32) -> Bool {
        var buffer = [CChar](repeating: 0, count: 16_384)
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        guard getpwuid_r(user, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return false }
        var groups = [gid_t](repeating: 0, count: 256)
        var count = Int32(groups.count)
        guard getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count) >= 0 else { return false }
        return groups.prefix(Int(count)).contains(group)
    }

    /// Compares in a time that depends on the length alone.
    private func carriesToken(_ request: Request) -> Bool {
        let given = Array((request.headers[single: "Authorization"] ?? "").utf8)
        let wanted = Array("Bearer ".utf8) + token
        guard given.count == wanted.count, !token.isEmpty else { return false }
        return zip(given, wanted).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func forbidden(_ detail: String) -> Problem {
        Problem(status: 403, title: "Forbidden", detail: detail)
    }

    private static func isOwn(origin: String) -> Bool {
        guard origin.hasPrefix("http://") else { return false }
        let host = origin.dropFirst("http://".count).prefix { $0 != "/" }
        return !host.isEmpty && ownHosts.contains(name(of: String(host)))
    }

    /// A host without its port.
    private static func name(of host: String) -> String {
        guard let colon = host.lastIndex(of: ":"), host[host.index(after: colon)...].allSatisfy(\.isNumber) else {
            return host.lowercased()
        }
        return host[..<colon].lowercased()
    }
}

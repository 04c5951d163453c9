package import SocketServer

/// The names and addresses of this machine by which it may be called.
///
/// For a browser a name counts only if every address that it may lead to is the daemon's own. Otherwise another user could
/// answer at one of them, and the page from there would be of the same site as the daemon.
package struct OwnHosts: Sendable {
    /// A few short texts, which are compared faster than one is hashed.
    private let names: [String]

    /// All of this machine.
    package static let all = OwnHosts(names: local)

    private static let local: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    private init(names: Set<String>) { self.names = names.sorted() }

    /// `addresses`: all that the daemon listens at. Without `hasIPv6` the name localhost leads to 127.0.0.1 alone.
    package init(_ addresses: [BoundAddress], hasIPv6: Bool) {
        let ends: [Peer.Endpoint] = addresses.compactMap { if case .tcp(let end) = $0 { end } else { nil } }
        var names = Set(ends.map { $0.address.contains(":") ? "[\($0.address)]" : $0.address })
        let hasLocalhost = ends.contains { end in
            end.address == "127.0.0.1"
                && (!hasIPv6 || ends.contains { $0.address == "::1" && $0.port == end.port })
        }
        if hasLocalhost { names.insert("localhost") }
        self.init(names: names)
    }

    /// Whether any caller may call by this name.
    func includes(_ name: String) -> Bool { names.contains(name) }

    /// Why a request may not call by this name; nil when it may.
    func refusal(of name: String, fromBrowser: @autoclosure () -> Bool) -> String? {
        if includes(name) { return nil }
        let isLocal = Self.local.contains(name)
        if isLocal, !fromBrowser() { return nil }
        guard isLocal else { return "the Host field names another machine; call \(advice)" }
        return "the daemon does not listen at every address of \(name), and another user could answer at the others; "
            + "call \(advice)"
    }

    /// What to call instead.
    var advice: String { names.joined(separator: " or ") }
}

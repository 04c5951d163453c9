internal import SocketServer

/// Refuses what a web page or another user of the machine sends: no page calls an upstream, and the sample data of a demo
/// reaches a daemon and a terminal.
struct PageGuard {
    /// It listens on loopback only. Then a name in `Host` is that of a page's server, which now resolves to this machine.
    let isLocal: Bool
    /// Otherwise every caller is a stranger.
    let tellsCallersApart: Bool

    func refusal(of request: Request) -> Refusal? {
        if request.headers[single: "Origin"] != nil
            || request.headers[all: "Sec-Fetch-Site"].contains(where: { !["none", "same-origin"].contains($0) })
        {
            return Self.forbidden("no web page may call this upstream")
        }
        let host = request.headers[single: "Host"].map(Self.name)
        if isLocal, let host, !["localhost", "127.0.0.1", "[::1]"].contains(host) {
            return Self.forbidden("the Host field names another machine; call localhost or 127.0.0.1")
        }
        let isRead = request.method == "GET" || request.method == "HEAD"
        if tellsCallersApart, request.caller.access == .stranger, !isRead {
            return Self.forbidden("only the user who runs this upstream may change something in it")
        }
        return nil
    }

    private static func forbidden(_ message: String) -> Refusal {
        Refusal(status: 403, code: "forbidden", message: message)
    }

    /// A host without its port.
    private static func name(_ host: String) -> String {
        let port = host.utf8.lastIndex(of: UInt8(ascii: ":")).map { host[$0...].dropFirst() } ?? ""
        let isPort = !port.isEmpty && port.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return (isPort ? String(host.dropLast(port.utf8.count + 1)) : host).lowercased()
    }
}

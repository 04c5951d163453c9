import Glibc

/// An IP address and a port to listen on, as `127.0.0.1:7679` or `[::1]:7679`.
struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// An IPv4 address, or an IPv6 address without brackets.
    var host: String
    /// 0 lets the system choose.
    var port: Int

    /// Nil when `text` is not an address and a port; `localhost` means 127.0.0.1.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65535).contains(port)
        else { return nil }
        var host = String(text[..<colon])
        if host == "localhost" { host = "127.0.0.1" }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard Self.isAddress(host, family: AF_INET6) else { return nil }
        } else if !Self.isAddress(host, family: AF_INET) {
            return nil
        }
        self.host = host
        self.port = port
    }

    /// Whether only this machine can connect.
    var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private static func isAddress(_ text: String, family: Int32) -> Bool {
        withUnsafeTemporaryAllocation(of: in6_addr.self, capacity: 1) { inet_pton(family, text, $0.baseAddress) == 1 }
    }
}

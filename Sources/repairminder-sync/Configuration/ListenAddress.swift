import Glibc

/// An IP address and a port to listen on, as `127.0.0.1:7679` or `[::1]:7679`.
struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// An IPv4 address, or an IPv6 address without brackets.
    var host: String
    /// 0 lets the system choose.
    var port: Int
    /// Whether it was written as `localhost`, which also means [::1].
    var isLocalhost = false

    /// Nil when `text` is not an address and a port; `localhost` means 127.0.0.1 and, where the machine
    /// has IPv6, [::1].
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65535).contains(port)
        else { return nil }
        var host = String(text[..<colon])
        if host == "localhost" {
            host = "127.0.0.1"
            isLocalhost = true
        }
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

    var description: String { Self.text(host, port) }

    /// As it is written, with an IPv6 address in brackets.
    static func text(_ host: String, _ port: some BinaryInteger) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// The addresses to listen on. With port 0, `ListeningSockets` gives both the same one.
    var addresses: [(host: String, port: UInt16)] {
        let port = UInt16(port)
        return isLocalhost && Self.hasIPv6Loopback ? [(host, port), ("::1", port)] : [(host, port)]
    }

    /// Whether a socket can have the address ::1. In doubt it can: then listening there fails, and says why.
    static var hasIPv6Loopback: Bool {
        let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return !meansNoIPv6(errno) }
        defer { close(descriptor) }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        let result = withUnsafeBytes(of: &address) {
            bind(descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        }
        return result == 0 || !meansNoIPv6(errno)
    }

    /// Whether an error says that this machine has no address ::1. Other errors may pass, or another user may cause them:
    /// holding all free ports of [::1] gives EADDRINUSE.
    static func meansNoIPv6(_ code: Int32) -> Bool { code == EADDRNOTAVAIL || code == EAFNOSUPPORT }

    private static func isAddress(_ text: String, family: Int32) -> Bool {
        withUnsafeTemporaryAllocation(of: in6_addr.self, capacity: 1) { inet_pton(family, text, $0.baseAddress) == 1 }
    }
}

/// Where the daemon listens.
public enum DaemonAddress: Sendable, Hashable, CustomStringConvertible {
    /// A Unix socket: the daemon knows its caller by the user, and no other user can take the address.
    case unix(String)
    /// A port; on another machine only through a tunnel, because nothing is encrypted.
    case tcp(host: String, port: UInt16)

    /// The socket of the Debian package.
    public static let packaged = DaemonAddress.unix("/run/repairminder-sync/api.sock")

    /// The port of the demo, and of a daemon without configuration.
    public static let local = DaemonAddress.tcp(host: "127.0.0.1", port: 7679)

    /// Nil unless the text is a path that begins with `/`, or `host:port` (`localhost:7679`, `[::1]:7679`).
    public init?(_ text: String) {
        if text.hasPrefix("/") {
            self = .unix(text)
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        let host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        guard !host.isEmpty, isBracketed || !host.contains(":") else { return nil }
        self = .tcp(host: String(isBracketed ? host.dropFirst().dropLast() : host), port: port)
    }

    /// The path, or host and port.
    public var description: String {
        switch self {
        case .unix(let path): path
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    /// The header field `Host`.
    var host: String {
        switch self {
        case .unix: "localhost"
        case .tcp: description
        }
    }
}

/// The token for callers whom the daemon does not know by their user.
public enum DaemonToken: Sendable, Hashable {
    /// The token itself.
    case text(String)
    /// A file with it, such as `<state_dir>/api-token`. Read for each call, so that a new token counts at once.
    case file(String)
}

/// An address to listen on.
package enum Listener: Sendable, Equatable {
    /// A numeric address, such as `127.0.0.1` or `::1`; with port 0 the system picks a port.
    case tcp(host: String, port: UInt16)
    /// A socket file; its permissions and group are set before anyone can connect. A stale file is replaced.
    case unix(path: String, mode: UInt32, group: UInt32?)
    /// An inherited listening stream socket (socket activation); the server closes it when it stops.
    case descriptor(Int32)

    /// Whether one socket can serve both, ignoring permissions.
    func isSamePlace(as other: Listener) -> Bool {
        if case .unix(let path, _, _) = self, case .unix(path, _, _) = other { return true }
        return self == other
    }
}

/// An address that a server listens on.
package enum BoundAddress: Sendable, Equatable, CustomStringConvertible {
    case tcp(Peer.Endpoint)
    case unix(path: String)

    package var description: String {
        switch self {
        case .tcp(let endpoint) where endpoint.address.utf8.contains(UInt8(ascii: ":")):
            "http://[\(endpoint.address)]:\(endpoint.port)"
        case .tcp(let endpoint): "http://\(endpoint.address):\(endpoint.port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}

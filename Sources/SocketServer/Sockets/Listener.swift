/// Where a server is to listen.
package enum Listener: Sendable, Equatable {
    /// A numeric address, such as `127.0.0.1` or `::1`; port 0 lets the system choose.
    case tcp(host: String, port: UInt16)
    /// A socket file, with its permissions and group set before anyone can connect; a stale one is replaced.
    case unix(path: String, mode: UInt32, group: UInt32?)
    /// A listening stream socket that was handed over (socket activation); closed by the server when it stops.
    case descriptor(Int32)

    /// Whether one socket can be both, if perhaps with other permissions.
    func isSamePlace(as other: Listener) -> Bool {
        if case .unix(let path, _, _) = self, case .unix(path, _, _) = other { return true }
        return self == other
    }
}

/// Where a server listens.
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

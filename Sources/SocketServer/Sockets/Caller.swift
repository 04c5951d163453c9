/// The caller, as identified when the connection opened; the same for all requests on the connection.
package struct Caller: Sendable, Equatable {
    package enum Access: Sendable {
        /// The administrator of the machine or the server: may use all connections.
        case owner
        /// A known and authorized user; each has a limit of connections.
        case member
        /// An unknown caller, until a request proves otherwise; all strangers together have a limit of connections.
        case stranger
    }

    /// Nil when the system does not report it.
    package var user: UInt32?
    package var access: Access

    package init(user: UInt32?, access: Access) {
        self.user = user
        self.access = access
    }

    package static let unknown = Caller(user: nil, access: .stranger)

    /// Identifies the caller of an accepted socket. Called once per connection; must not block for long.
    package typealias Lookup = @Sendable (_ descriptor: Int32, _ peer: Peer) -> Caller
}

/// The other end of a connection, as the kernel reports it.
package enum Peer: Sendable, Equatable {
    /// A Unix socket, with the credentials of the process that connected (`SO_PEERCRED`).
    case unix(pid: Int32, uid: UInt32, gid: UInt32)
    /// A TCP socket, with both ends in numeric form.
    case tcp(remote: Endpoint, local: Endpoint)
    /// A request that did not arrive over a socket.
    case unknown

    package struct Endpoint: Sendable, Equatable {
        package var address: String
        package var port: UInt16

        package init(address: String, port: UInt16) {
            self.address = address
            self.port = port
        }
    }
}

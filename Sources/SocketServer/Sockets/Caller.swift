/// Who calls, as far as whoever runs the server could tell when the connection opened; it holds for all its requests.
package struct Caller: Sendable, Equatable {
    package enum Standing: Sendable {
        /// Runs this machine or the server itself: may take every place there is.
        case owner
        /// Known, and let in like the owner; one such user may take a part of the places.
        case member
        /// Not known; all strangers together may take a part of the places.
        case stranger
    }

    /// Nil when the system does not tell.
    package var user: UInt32?
    package var standing: Standing

    package init(user: UInt32?, standing: Standing) {
        self.user = user
        self.standing = standing
    }

    package static let unknown = Caller(user: nil, standing: .stranger)

    /// Tells who has connected with an accepted socket; asked once a connection, and must not block for long.
    package typealias Lookup = @Sendable (_ descriptor: Int32, _ peer: Peer) -> Caller
}

/// Who is at the other end of a connection, as far as the kernel tells.
package enum Peer: Sendable, Equatable {
    /// A Unix socket: the credentials of the process that connected (`SO_PEERCRED`).
    case unix(pid: Int32, uid: UInt32, gid: UInt32)
    /// A TCP socket: both ends in numeric form.
    case tcp(remote: Endpoint, local: Endpoint)
    /// A request that came over no socket.
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

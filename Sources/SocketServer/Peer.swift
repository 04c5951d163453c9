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

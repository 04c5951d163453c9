internal import Glibc

/// How far a TCP connection has come, in the kernel's numbers (`include/net/tcp_states.h`).
struct TCPState: RawRepresentable, Hashable {
    var rawValue: UInt8

    static let established = TCPState(rawValue: 1)
    static let finWait1 = TCPState(rawValue: 4)
    static let finWait2 = TCPState(rawValue: 5)
    static let timeWait = TCPState(rawValue: 6)
    static let closeWait = TCPState(rawValue: 8)
    static let listen = TCPState(rawValue: 10)
    private static let closed = TCPState(rawValue: 7)

    /// Those in which a connection is between the two that made it, and can still bring what we receive.
    static let areOpen: Set<TCPState> = [established, closeWait]

    init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The state of one of our own sockets: the first byte of `TCP_INFO` (tcp(7)).
    init(of descriptor: Int32) {
        var state: UInt8 = 0
        var size = socklen_t(1)
        let result = getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &state, &size)
        self = result == 0 ? TCPState(rawValue: state) : .closed
    }
}

internal import CCurl
internal import Glibc
internal import Synchronization

/// The sockets of libcurl's connections, which its thread opens and closes, and which any thread may break.
///
/// libcurl 7.88 says nothing when it closes the socket of a connection that was not made in time, or that another address was
/// faster than. Its number can be another file's then, so each is known by the cookie of its socket, too.
final class OpenSockets: Sendable {
    private let sockets = Mutex<[curl_socket_t: UInt64]>([:])

    var all: Set<curl_socket_t> {
        sockets.withLock { sockets in
            sockets = sockets.filter(Self.isSame)
            return Set(sockets.keys)
        }
    }

    func insert(_ socket: curl_socket_t) {
        sockets.withLock { $0[socket] = Self.cookie(of: socket) }
    }

    /// Closes it while no other thread breaks it: its number could be another file's by then.
    func close(_ socket: curl_socket_t) -> Int32 {
        sockets.withLock { sockets in
            sockets[socket] = nil
            return Glibc.close(socket)
        }
    }

    /// How many bytes of each connection over TCP were read so far.
    var bytesRead: [curl_socket_t: Int] {
        sockets.withLock { sockets in
            var bytes: [curl_socket_t: Int] = [:]
            for (socket, cookie) in sockets where Self.isSame(socket, cookie) {
                bytes[socket] = Self.bytesRead(of: socket)
            }
            return bytes
        }
    }

    /// Ends the connections of which something was read since `bytesRead` was `before`.
    func breakThose(readSince before: [curl_socket_t: Int]) {
        let now = bytesRead
        breakConnections { now[$0, default: 0] > before[$0, default: .max] }
    }

    /// Ends all connections, or these: the kernel refuses what their servers send from here on.
    func breakConnections(where isMeant: (curl_socket_t) -> Bool = { _ in true }) {
        sockets.withLock { sockets in
            for (socket, cookie) in sockets where isMeant(socket) && Self.isSame(socket, cookie) {
                shutdown(socket, Int32(SHUT_RDWR))
            }
        }
    }

    /// Nil for another socket than TCP's.
    private static func bytesRead(of socket: curl_socket_t) -> Int? {
        var unread: Int32 = 0
        guard ioctl(socket, UInt(FIONREAD), &unread) == 0 else { return nil }
        return WireMeter.received(by: socket).map { $0 - Int(unread) }
    }

    private static func isSame(_ socket: curl_socket_t, _ cookie: UInt64) -> Bool {
        Self.cookie(of: socket) == cookie
    }

    /// A number that the kernel gives no other socket until the machine restarts (socket(7), `SO_COOKIE`); 0 if it is no socket.
    private static func cookie(of socket: curl_socket_t) -> UInt64 {
        var cookie: UInt64 = 0
        var size = socklen_t(MemoryLayout<UInt64>.size)
        getsockopt(socket, SOL_SOCKET, SO_COOKIE, &cookie, &size)
        return cookie
    }
}

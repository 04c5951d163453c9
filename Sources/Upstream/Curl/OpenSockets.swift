internal import CCurl
internal import Glibc
internal import Synchronization

/// The sockets of libcurl's connections, which its thread opens and closes, and which any thread may break.
final class OpenSockets: Sendable {
    private let sockets = Mutex<Set<curl_socket_t>>([])

    var all: Set<curl_socket_t> { sockets.withLock { $0 } }

    func insert(_ socket: curl_socket_t) {
        sockets.withLock { _ = $0.insert(socket) }
    }

    /// Closes it while no other thread breaks it: its number could be another file's by then.
    func close(_ socket: curl_socket_t) -> Int32 {
        sockets.withLock { sockets in
            sockets.remove(socket)
            return Glibc.close(socket)
        }
    }

    /// Ends all connections: the kernel refuses what their servers send from here on.
    func breakAll() {
        sockets.withLock { sockets in
            for socket in sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }
}

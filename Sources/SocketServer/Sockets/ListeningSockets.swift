internal import Glibc

/// The sockets that a program listens on. They stay open from one server to the next, so callers queue in between
/// instead of being refused.
package struct ListeningSockets: ~Copyable {
    private var sockets: [(listener: Listener, socket: ListeningSocket)] = []

    package init() {}

    deinit { sockets.forEach { $0.socket.close() } }

    /// Closes all sockets; new callers are refused.
    package mutating func close() {
        sockets.forEach { $0.socket.close() }
        sockets = []
    }

    /// Listens on exactly these: keeps open sockets, opens missing ones and closes the rest. Throws when one fails;
    /// then nothing has changed.
    package mutating func change(to listeners: [Listener]) throws(ServerError) {
        var left = sockets
        var wanted: [(listener: Listener, socket: ListeningSocket)] = []
        var opened: [ListeningSocket] = []
        do throws(ServerError) {
            for listener in listeners {
                if let index = left.firstIndex(where: { $0.listener.isSamePlace(as: listener) }) {
                    wanted.append((listener, left.remove(at: index).socket))
                } else {
                    let socket = try ListeningSocket.open(listener)
                    opened.append(socket)
                    wanted.append((listener, socket))
                }
            }
            for (listener, socket) in wanted where !sockets.contains(where: { $0.listener == listener }) {
                try socket.setPermissions(of: listener)
            }
        } catch {
            opened.forEach { $0.close() }
            throw error
        }
        left.forEach { $0.socket.close() }
        sockets = wanted
    }

    /// Duplicates of the sockets for one server, which closes its descriptors when it stops.
    package func forServer() throws(ServerError) -> [Listener] {
        var listeners: [Listener] = []
        for (_, socket) in sockets {
            let descriptor = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 0)
            guard descriptor >= 0 else {
                throw .system(
                    "Cannot duplicate a listening socket (\(errorText())); raise the limit of open files.")
            }
            listeners.append(.descriptor(descriptor))
        }
        return listeners
    }
}

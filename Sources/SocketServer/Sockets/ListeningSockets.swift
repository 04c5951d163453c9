internal import Glibc
internal import SystemCalls

/// The sockets that a program listens on. They stay open from one server to the next, so callers queue in between
/// instead of being refused.
package struct ListeningSockets: ~Copyable {
    private var sockets: [(listener: Listener, socket: ListeningSocket)] = []
    /// Sockets that the service manager opened; they stay open until the process ends.
    private let inherited: [ListeningSocket]

    package init() { inherited = [] }

    /// Uses `inherited` where a listener has the same address. Throws when one of them is not a listening stream socket.
    package init(inherited: [Int32]) throws(ServerError) {
        var adopted: [ListeningSocket] = []
        for descriptor in inherited { adopted.append(try ListeningSocket.open(.descriptor(descriptor))) }
        self.inherited = adopted
    }

    deinit { closeOwn(sockets.map(\.socket)) }

    /// Closes all sockets; new callers are refused. Inherited sockets stay open, and their callers wait.
    package mutating func close() {
        closeOwn(sockets.map(\.socket))
        sockets = []
    }

    private func closeOwn(_ sockets: [ListeningSocket]) {
        for socket in sockets where !isInherited(socket) { socket.close() }
    }

    private func isInherited(_ socket: ListeningSocket) -> Bool {
        inherited.contains { $0.descriptor == socket.descriptor }
    }

    /// The paths of those descriptors that are Unix sockets.
    package static func paths(of descriptors: [Int32]) -> [String] {
        descriptors.compactMap { if case .unix(let path) = SocketAddress.local(of: $0) { path } else { nil } }
    }

    /// The addresses of the sockets that are in use.
    package var addresses: [BoundAddress] { sockets.map(\.socket.address) }

    /// Inherited sockets that no listener uses. The service manager keeps them open, so callers can connect there.
    package var unused: [BoundAddress] {
        inherited.filter { one in !sockets.contains { $0.socket.descriptor == one.descriptor } }.map(\.address)
    }

    /// Listens on exactly these: keeps open sockets, opens missing ones and closes the rest. An inherited socket at [::1]
    /// joins one at 127.0.0.1; if the system chooses the port of both, it is the same. Throws when one fails; then nothing has
    /// changed.
    package mutating func change(to listeners: [Listener]) throws(ServerError) {
        var opened = try openLoopbacks(among: listeners)
        var left = sockets + opened
        var wanted: [(listener: Listener, socket: ListeningSocket)] = []
        do throws(ServerError) {
            for listener in listeners {
                if let index = left.firstIndex(where: { $0.listener.isSamePlace(as: listener) }) {
                    wanted.append((listener, left.remove(at: index).socket))
                } else if let socket = inherited.first(where: { $0.serves(listener) }) {
                    wanted.append((listener, socket))
                } else {
                    let socket = try open(listener)
                    opened.append((listener, socket))
                    wanted.append((listener, socket))
                }
            }
            wanted += otherLoopbacks(beside: listeners)
            for (listener, socket) in wanted where !sockets.contains(where: { $0.listener == listener }) {
                // The unit sets the permissions of an inherited socket.
                if !isInherited(socket) { try socket.setPermissions(of: listener) }
            }
        } catch {
            for (_, socket) in opened { socket.close() }
            throw error
        }
        closeOwn(left.map(\.socket))
        sockets = wanted
    }

    private func open(_ listener: Listener) throws(ServerError) -> ListeningSocket {
        do throws(ServerError) {
            return try ListeningSocket.open(listener)
        } catch .addressTaken(let message) {
            guard case .tcp(_, let port) = listener, let holder = inherited.first(where: { $0.port == port }) else {
                throw .addressTaken(message)
            }
            throw .addressTaken(
                "The service manager's socket unit holds \(holder.address), so this cannot listen at the same port of "
                    + "another address. Run systemctl edit repairminder-sync.socket and give it the configured address: "
                    + "[Socket], an empty ListenStream=, then ListenStream= with each address.")
        }
    }

    /// New sockets for 127.0.0.1 and [::1] at one port that the system chooses: localhost leads to both. Nothing where they are
    /// open, or not both wanted.
    private func openLoopbacks(
        among listeners: [Listener]
    ) throws(ServerError) -> [(listener: Listener, socket: ListeningSocket)] {
        let (four, six) = (Listener.tcp(host: "127.0.0.1", port: 0), Listener.tcp(host: "::1", port: 0))
        guard listeners.contains(four), listeners.contains(six) else { return [] }
        switch (port(of: four), port(of: six)) {
        case (nil, nil):
            let (first, second) = try ListeningSocket.openLoopbacks()
            return [(four, first), (six, second)]
        case (let port?, nil): return [(six, try ListeningSocket.open(.tcp(host: "::1", port: port)))]
        case (nil, let port?): return [(four, try ListeningSocket.open(.tcp(host: "127.0.0.1", port: port)))]
        default: return []
        }
    }

    /// Nil while it is not open.
    private func port(of listener: Listener) -> UInt16? { sockets.first { $0.listener == listener }?.socket.port }

    /// Inherited sockets at [::1] whose port is served at 127.0.0.1: localhost leads to both, and callers would wait
    /// without an answer at one.
    private func otherLoopbacks(beside listeners: [Listener]) -> [(listener: Listener, socket: ListeningSocket)] {
        var others: [(listener: Listener, socket: ListeningSocket)] = []
        for socket in inherited {
            guard let port = socket.port, listeners.contains(.tcp(host: "127.0.0.1", port: port)) else { continue }
            let other = Listener.tcp(host: "::1", port: port)
            if socket.serves(other), !listeners.contains(other) { others.append((other, socket)) }
        }
        return others
    }

    /// Duplicates of the sockets for one server, which closes its descriptors when it stops.
    package func forServer() throws(ServerError) -> [Listener] { try Self.duplicates(of: sockets.map(\.socket)) }

    /// The same of the inherited sockets that no listener uses, for a server that answers where to call. `others`: the addresses
    /// that this process serves with other sockets.
    package func unusedForServer(besides others: [BoundAddress] = []) throws(ServerError) -> [Listener] {
        let unused = unused.filter { !others.contains($0) }
        return try Self.duplicates(of: inherited.filter { unused.contains($0.address) })
    }

    private static func duplicates(of sockets: [ListeningSocket]) throws(ServerError) -> [Listener] {
        var listeners: [Listener] = []
        for socket in sockets {
            let descriptor = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 0)
            guard descriptor >= 0 else {
                throw .system(
                    "Cannot duplicate a listening socket (\(SystemError.last)); raise the limit of open files.")
            }
            listeners.append(.descriptor(descriptor))
        }
        return listeners
    }
}

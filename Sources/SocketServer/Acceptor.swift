import CLinux
import Glibc
import Synchronization

/// Accepts connections on one listening socket and distributes them over the event loops in turn.
final class Acceptor: EventSource {
    /// The events that an event loop must watch for an acceptor.
    static let events = EPOLLIN.rawValue

    let descriptor: Int32
    let turnTaker: ConnectionHolder? = nil
    private let socket: ListeningSocket
    private let context: ServerContext
    private let state: Mutex<State>

    private struct State {
        var isClosed = false
        var turn = 0
        /// A spare descriptor, closed when descriptors run out: accepting a connection just to close it needs one.
        var reserve: Int32
    }

    init(socket: ListeningSocket, context: ServerContext) {
        self.socket = socket
        self.context = context
        descriptor = socket.descriptor
        state = Mutex(State(reserve: Self.openReserve()))
    }

    /// Stops accepting; after it returns, no loop gets another connection. Idempotent.
    func close() {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.isClosed = true
            context.loops[0].remove(self)
            socket.close()
            Glibc.close(state.reserve)
        }
    }

    func ready(_ events: UInt32) {
        state.withLock { state in
            guard !state.isClosed else { return }
            for _ in 0..<64 {
                let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
                let accepted = clinux_accept4(descriptor, nil, nil, flags)
                if accepted >= 0 {
                    serve(accepted, &state)
                } else if errno == EMFILE || errno == ENFILE {
                    guard dropOne(&state) else { return }
                } else if errno != EINTR && errno != ECONNABORTED {
                    return
                }
            }
        }
    }

    func expire(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? { nil }
    func drain() { close() }
    func abort() { close() }

    private func serve(_ accepted: Int32, _ state: inout State) {
        if case .tcp = socket.address { Self.setOptions(of: accepted) }
        state.turn = (state.turn + 1) % context.loops.count
        let loop = context.loops[state.turn]
        let peer = Self.peer(of: accepted)
        let connection = Connection(
            descriptor: accepted, peer: peer, caller: context.lookup?(accepted, peer) ?? .unknown, loop: loop,
            context: context)
        guard context.limiter.admit(connection) else { return reject(CallerSocket(accepted, of: peer)) }
        let events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        do {
            try loop.add(connection, events: events)
            connection.start()
        } catch {
            CallerSocket(accepted, of: peer).close()
            context.limiter.release(connection)
        }
    }

    /// How much the kernel keeps for one caller of what it is sent, and of what it sends, in bytes. It counts twice as much, for
    /// what it needs itself.
    ///
    /// Left to choose, it keeps 4 MiB for each caller who does not read, and 6 MiB of one who sends ahead. That is the daemon's
    /// memory too, and has the same limit: with a hundred connections every user of the machine could have the daemon killed.
    private static let buffers = [(SO_SNDBUF, Int32(128 << 10)), (SO_RCVBUF, Int32(64 << 10))]

    /// For TCP alone: a Unix socket keeps no more by itself.
    private static func setOptions(of accepted: Int32) {
        let size = socklen_t(MemoryLayout<Int32>.size)
        var on: Int32 = 1
        setsockopt(accepted, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
        for (buffer, bytes) in buffers {
            var bytes = bytes
            setsockopt(accepted, SOL_SOCKET, buffer, &bytes, size)
        }
    }

    /// Answers a connection over the limit with 503, without blocking, and closes it.
    private func reject(_ rejected: CallerSocket) {
        var response = ResponseWriter.problem(.busy)
        response.headers.append(("Retry-After", "1"))
        if case .bytes(let body) = response.body, let head = context.writer.head(of: response, closes: true) {
            let bytes = head + body
            send(rejected.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        shutdown(rejected.descriptor, Int32(SHUT_WR))
        var rest = [UInt8](repeating: 0, count: 4096)
        // Not more: a caller who sends on and on would keep all others out.
        for _ in 0..<64 where rest.withUnsafeMutableBytes(rejected.receive) <= 0 { break }
        rejected.close()
    }

    /// Closes a waiting connection when no descriptor is left for it; false when not even that is possible.
    private func dropOne(_ state: inout State) -> Bool {
        guard state.reserve >= 0 else {
            state.reserve = Self.openReserve()
            return state.reserve >= 0
        }
        Glibc.close(state.reserve)
        let accepted = clinux_accept4(descriptor, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
        if accepted >= 0 { CallerSocket(accepted, of: Self.peer(of: accepted)).close() }
        state.reserve = Self.openReserve()
        return accepted >= 0
    }

    private static func openReserve() -> Int32 { open("/dev/null", O_RDONLY | O_CLOEXEC) }

    private static func peer(of accepted: Int32) -> Peer {
        switch (SocketAddress.remote(of: accepted), SocketAddress.local(of: accepted)) {
        case (.inet(let remote), .inet(let local)): return .tcp(remote: remote, local: local)
        case (.unix, _):
            var credentials = clinux_credentials()
            var size = socklen_t(MemoryLayout<clinux_credentials>.size)
            guard getsockopt(accepted, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return .unknown }
            return .unix(pid: credentials.pid, uid: credentials.uid, gid: credentials.gid)
        default: return .unknown
        }
    }
}

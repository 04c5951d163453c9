import Synchronization

/// A small, strict and bounded HTTP/1.1 server (RFC 9110, RFC 9112) over TCP and Unix sockets.
///
/// Knows nothing of what it serves: a handler turns each request into an answer. Handlers run on the server's own few
/// threads and must not block for long; what takes time belongs behind an `await`. A handler's task is cancelled when
/// its caller closes the connection.
package final class SocketServer: Sendable {
    private struct State {
        var sockets: [ListeningSocket] = []
        var loops: [EventLoop] = []
        var hasRun = false
    }

    private let listeners: [Listener]
    private let limits: ServerLimits
    private let threads: Int
    private let lookup: Caller.Lookup?
    private let streams: StreamRule
    private let handler: @Sendable (Request) async -> Response
    private let state = Mutex(State())

    /// Without a `lookup` all callers are alike, and unknown to the handler. Requests that `streams` names are handled as
    /// soon as their heads are there.
    package init(
        listeners: [Listener], limits: ServerLimits = ServerLimits(), threads: Int = 2,
        handler: @escaping @Sendable (Request) async -> Response, lookup: Caller.Lookup? = nil,
        streams: @escaping StreamRule = { _, _ in nil }
    ) {
        self.listeners = listeners
        self.limits = limits
        self.threads = max(1, threads)
        self.lookup = lookup
        self.streams = streams
        self.handler = handler
    }

    deinit {
        state.withLock { $0.sockets.forEach { $0.close() } }
    }

    /// Binds every listener and returns where, with the port the system chose for port 0; callers queue until `run`.
    ///
    /// Throws when one of them cannot be had; then none is kept. A second call changes nothing.
    @discardableResult
    package func bind() throws(ServerError) -> [BoundAddress] {
        try state.withLock { state throws(ServerError) in
            if state.sockets.isEmpty {
                do throws(ServerError) {
                    for listener in listeners { state.sockets.append(try ListeningSocket.open(listener)) }
                } catch {
                    state.sockets.forEach { $0.close() }
                    state.sockets = []
                    throw error
                }
            }
            return state.sockets.map(\.address)
        }
    }

    /// Serves until the task is cancelled; then stops accepting, gives what is in flight `limits.shutdown`, and returns.
    ///
    /// Binds first when `bind` was not called. A server runs once.
    package func run() async throws(ServerError) {
        try bind()
        let (sockets, loops) = try begin()
        let context = ServerContext(limits: limits, loops: loops, lookup: lookup, streams: streams, handler: handler)
        let acceptors = sockets.map { Acceptor(socket: $0, context: context) }
        do throws(ServerError) {
            for loop in loops { try loop.start() }
            for acceptor in acceptors { try loops[0].add(acceptor, events: Acceptor.events) }
        } catch {
            acceptors.forEach { $0.close() }
            loops.forEach { $0.stop() }
            throw error
        }
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
        for acceptor in acceptors { acceptor.close() }
        await withTaskGroup { group in
            for loop in loops { group.addTask { [limits] in await loop.stop(within: limits.shutdown) } }
        }
    }

    /// Whether every event loop goes round within the limit: for a watchdog, while the server runs.
    package func isAlive(within limit: Duration) async -> Bool {
        let loops = state.withLock { $0.loops }
        let before = loops.map(\.turns)
        let end = ContinuousClock.now + limit
        for loop in loops { loop.wake() }
        while zip(loops, before).contains(where: { $0.turns == $1 }) {
            guard ContinuousClock.now < end, !Task.isCancelled else { return false }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return !loops.isEmpty
    }

    /// Hands the sockets over to the one run.
    private func begin() throws(ServerError) -> ([ListeningSocket], [EventLoop]) {
        try state.withLock { state throws(ServerError) in
            guard !state.hasRun else { throw .unusable("A server runs once; make a new one.") }
            var loops: [EventLoop] = []
            for _ in 0..<threads { loops.append(try EventLoop()) }
            state.loops = loops
            state.hasRun = true
            defer { state.sockets = [] }
            return (state.sockets, state.loops)
        }
    }
}

/// What all connections of a server share.
final class ServerContext: Sendable {
    let limits: ServerLimits
    let loops: [EventLoop]
    let writer = ResponseWriter(date: HTTPDate())
    let handler: @Sendable (Request) async -> Response
    /// Nil where all callers are alike.
    let lookup: Caller.Lookup?
    let limiter: ConnectionLimiter
    let streams: StreamRule

    init(
        limits: ServerLimits, loops: [EventLoop], lookup: Caller.Lookup?,
        streams: @escaping StreamRule, handler: @escaping @Sendable (Request) async -> Response
    ) {
        self.limits = limits
        self.loops = loops
        self.lookup = lookup
        limiter = ConnectionLimiter(limits: limits, tellsCallersApart: lookup != nil)
        self.streams = streams
        self.handler = handler
    }
}

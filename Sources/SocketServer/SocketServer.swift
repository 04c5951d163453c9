import Synchronization

/// A small, strict HTTP/1.1 server (RFC 9110, RFC 9112) with bounded resources, over TCP and Unix sockets.
///
/// A handler turns each request into a response. Handlers run on the server's few threads and must not block for long:
/// put slow work behind an `await`. A handler's task is cancelled when its caller closes the connection.
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
    private let bodies: BodyRule
    private let screen: HeadScreen
    private let handler: Handler
    private let state = Mutex(State())

    /// Called on a thread of the server, which it must not block for long: an answer that takes long comes later.
    package typealias Handler = @Sendable (consuming Request) -> Reply

    /// Without a `lookup` all callers are equal and unknown to the handler. A request that `streams` accepts is handled
    /// as soon as its head has arrived. `screen` can refuse any other request at that moment, before its body takes
    /// memory, and `bodies` limits the body.
    package init(
        listeners: [Listener], limits: ServerLimits = ServerLimits(), threads: Int = 2,
        answering handler: @escaping Handler, lookup: Caller.Lookup? = nil,
        streams: @escaping StreamRule = { _, _ in nil }, bodies: @escaping BodyRule = { _ in nil },
        screen: @escaping HeadScreen = { _ in nil }
    ) {
        self.screen = screen
        self.bodies = bodies
        self.listeners = listeners
        self.limits = limits
        self.threads = max(1, threads)
        self.lookup = lookup
        self.streams = streams
        self.handler = handler
    }

    /// For a handler that may wait at each request.
    package convenience init(
        listeners: [Listener], limits: ServerLimits = ServerLimits(), threads: Int = 2,
        handler: @escaping @Sendable (Request) async -> Response, lookup: Caller.Lookup? = nil,
        streams: @escaping StreamRule = { _, _ in nil }, bodies: @escaping BodyRule = { _ in nil },
        screen: @escaping HeadScreen = { _ in nil }
    ) {
        self.init(
            listeners: listeners, limits: limits, threads: threads,
            answering: { request in .later { await handler(request) } }, lookup: lookup, streams: streams,
            bodies: bodies,
            screen: screen)
    }

    deinit {
        state.withLock { $0.sockets.forEach { $0.close() } }
    }

    /// Binds all listeners and returns their addresses, with the actual port for port 0; callers queue until `run`.
    ///
    /// Throws when one of them fails; then all are closed. A second call changes nothing.
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

    /// Serves until the task is cancelled; then stops accepting, gives requests in flight `limits.shutdown`, and
    /// returns.
    ///
    /// Binds first if `bind` was not called. A server can run only once.
    package func run() async throws(ServerError) {
        try bind()
        let (sockets, loops) = try begin()
        let context = ServerContext(
            limits: limits, loops: loops, lookup: lookup, streams: streams, bodies: bodies, screen: screen,
            handler: handler)
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

    /// Whether every event loop completes a round within the limit; for a watchdog while the server is running.
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

    /// Hands the sockets over to `run`.
    private func begin() throws(ServerError) -> ([ListeningSocket], [EventLoop]) {
        try state.withLock { state throws(ServerError) in
            guard !state.hasRun else { throw .unusable("A server can run only once; create a new one.") }
            var loops: [EventLoop] = []
            for _ in 0..<threads { loops.append(try EventLoop()) }
            state.loops = loops
            state.hasRun = true
            defer { state.sockets = [] }
            return (state.sockets, state.loops)
        }
    }
}

/// The state shared by all connections of a server.
final class ServerContext: Sendable {
    let limits: ServerLimits
    let loops: [EventLoop]
    let writer = ResponseWriter(date: HTTPDate())
    let handler: SocketServer.Handler
    /// Nil when all callers are equal.
    let lookup: Caller.Lookup?
    let limiter: ConnectionLimiter
    let streams: StreamRule
    let bodyRule: BodyRule
    let screen: HeadScreen
    let bodies: BodyBudget
    let unsent: BodyBudget

    init(
        limits: ServerLimits, loops: [EventLoop], lookup: Caller.Lookup?,
        streams: @escaping StreamRule, bodies: @escaping BodyRule, screen: @escaping HeadScreen,
        handler: @escaping SocketServer.Handler
    ) {
        self.limits = limits
        self.loops = loops
        self.lookup = lookup
        limiter = ConnectionLimiter(limits: limits, tellsCallersApart: lookup != nil)
        self.streams = streams
        bodyRule = bodies
        self.screen = screen
        self.bodies = BodyBudget(limit: limits.allBodiesBytes)
        unsent = BodyBudget(limit: limits.allUnsentBytes)
        self.handler = handler
    }
}

/// Looks at a request without its body; returns the answer that refuses it, after which the connection closes, or nil.
package typealias HeadScreen = @Sendable (_ head: Request) -> Response?

import CLinux
import Glibc
import Synchronization

/// One connection: reads requests, answers them in order, and closes.
///
/// Everything runs on the event loop's thread, as one task; `serve` is its entry point. While the task waits for the next
/// request, `answersAtOnce` answers those that need no task.
actor Connection {
    /// What the task is doing, which decides how it reacts to a closing peer or a stopping server.
    enum Phase { case receiving, handling, streaming, closing }

    /// The peer has closed, stalled or been cut off: nothing more can be written.
    struct Gone: Error {}

    nonisolated let loop: EventLoop
    nonisolated let descriptor: Int32
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    nonisolated let caller: Caller
    nonisolated let peer: Peer
    private let socket: CallerSocket
    let context: ServerContext
    private lazy var origin = Request.Origin(peer: peer, caller: caller) { [weak self] in
        if let self { context.limiter.noteKnown(self) }
    }
    var limits: ServerLimits { context.limits }
    /// Whose share of the memory for bodies and answers it uses; nil if it may use all.
    lazy var holder = context.lookup == nil || caller.access == .owner ? nil : ConnectionHolder(caller, peer)

    var parser: RequestParser
    private nonisolated let waiting = Mutex<ContinuousClock.Instant?>(.now)
    var phase = Phase.receiving
    var task: Task<Void, Never>?
    private(set) var waiter: CheckedContinuation<Void, Never>?
    /// While the task waits for its caller's turn.
    var turn: CheckedContinuation<Void, Never>?
    /// What `answersAtOnce` has left to the task.
    var unfinished: Unfinished?
    /// The answer to the current request, if it is known before the task comes to it.
    private var known: Reply?
    var deadline: ContinuousClock.Instant?
    /// When the request that is awaited, or the part of it, must have arrived.
    var due = ContinuousClock.now
    /// The kernel may have bytes to read; it notifies again only after a read has found none (edge-triggered epoll).
    var isReadable = true
    /// The peer has finished sending; only bytes already in the kernel remain.
    var peerClosed = false
    var isBroken = false
    var isDraining = false
    var streamFailed = false
    var hasAnswered = false
    var isUnchunked = false  // for HTTP/1.0
    /// What was wrong with the streamed body of the current request.
    private var refusal: Refusal?
    /// What it holds of the budget for bodies.
    private var heldBytes = 0
    /// What `unfinished` holds of the budget for answers.
    var unsentBytes = 0
    /// The deadline of that body, extended as bytes arrive.
    private var bodyDue = ContinuousClock.now

    /// Takes over an accepted, non-blocking socket.
    init(descriptor: Int32, peer: Peer, caller: Caller, loop: EventLoop, context: ServerContext) {
        self.descriptor = descriptor
        self.peer = peer
        socket = CallerSocket(descriptor, of: peer)
        self.caller = caller
        self.loop = loop
        self.context = context
        parser = RequestParser(limits: context.limits, streams: context.streams, bodies: context.bodyRule)
    }

    /// Starts serving; called once, from any thread.
    nonisolated func start() { Task(executorPreference: loop) { await self.begin() } }

    private func begin() { task = Task(executorPreference: loop) { await self.serve() } }

    /// Serves requests until either side closes or an error occurs.
    private func serve() async {
        do {
            try await exchange()
            if phase == .closing { try await linger() }
        } catch {
            // The peer has gone: no answer can be sent.
        }
        loop.remove(self)
        socket.close()
        holdNothing()
        _ = hold(unsent: 0, insteadOf: unsentBytes)
        context.limiter.release(self)
        task = nil
    }

    private func exchange() async throws {
        do {
            while var message = try await receive() {
                guard try await answer(&message) else { break }
                // Nothing else would let other callers have their turn while this one sends on.
                if parser.stage != .idle || isReadable { await Task.yield() }
            }
        } catch let refusal as Refusal {
            phase = .closing
            let problem = ResponseWriter.problem(refusal, forgetsCookies: parser.isFullOfCookies)
            parser.discard()  // before others may have its room: the caller decides how long this connection stays
            holdNothing()
            let (head, response) = try written(problem, closes: true)
            if case .bytes(let body) = response.body { try await send(head, parser.isHead ? [] : body) }
        }
    }

    // MARK: Requests

    /// The next request, within its time limit; nil when the connection ends between requests.
    private func receive() async throws -> RequestParser.Message? {
        phase = .receiving
        var stage: RequestParser.Stage?
        due = .now
        awaitsCaller(since: due)
        defer { awaitsCaller(since: nil) }
        while true {
            if unfinished != nil, let message = try await finish() { return message }
            if let message = try parser.next() { return message }
            if stage != .body, let head = parser.pendingHead, let answer = context.screen(request(head)) {
                return try await refuse(head, answer)
            }
            try hold(parser.heldBytes)
            if parser.takeContinue() { try await send([UInt8]("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
            if stage != parser.stage {
                due = .now + patience(parser.stage)
                stage = parser.stage
                if stage == .body { awaitsCaller(since: .now) }
            }
            if peerClosed, !isReadable {
                if stage == .idle { return nil }
                throw Refusal.badRequest("The request ended before it was complete.")
            }
            if isDraining, stage == .idle, !isReadable {
                // A caller sends a request again if a connection that it has used before closes, but not on a new one.
                if hasAnswered { return nil }
                due = min(due, .now + limits.firstRequest)
            }
            if isReadable {
                try read { parser.append($0) }
            } else if try await !wait(until: due) {
                if stage == .idle { return nil }
                throw Refusal.timedOut
            }
        }
    }

    /// Answers a request whose body has not arrived, and ends the connection.
    private func refuse(_ head: RequestParser.Message, _ answer: Response) async throws -> RequestParser.Message? {
        phase = .closing
        let (bytes, response) = try written(answer, closes: true)
        if case .bytes(let body) = response.body { try await send(bytes, head.method == "HEAD" ? [] : body) }
        return nil
    }

    private func hold(_ bytes: Int) throws {
        guard context.bodies.change(from: heldBytes, to: bytes, of: holder) else { throw Refusal.bodiesFull }
        heldBytes = bytes
    }

    private func holdNothing() {
        _ = context.bodies.change(from: heldBytes, to: 0, of: holder)
        heldBytes = 0
    }

    func request(_ message: RequestParser.Message) -> Request {
        Request(message, stream: message.isStreamed ? { try await self.piece() } as BodyStream : nil, origin: origin)
    }

    private func patience(_ stage: RequestParser.Stage) -> Duration {
        switch stage {
        case .idle: hasAnswered ? limits.idle : limits.head
        case .head: limits.head
        case .body: limits.body
        }
    }

    /// Reads the available bytes, up to the read-ahead limit.
    func read(_ take: (UnsafeRawBufferPointer) -> Void) throws {
        let count = loop.withScratch(byteCount: limits.readAheadBytes) { space in
            let count = socket.receive(into: space)
            if count > 0 { take(UnsafeRawBufferPointer(rebasing: space[..<count])) }
            // A short read means that the kernel has no more: the next bytes raise an event.
            if count >= 0, count < space.count, !peerClosed { isReadable = false }
            return count
        }
        if count > 0 || count < 0 && errno == EINTR { return }
        isReadable = false
        if count == 0 { peerClosed = true } else if errno != EAGAIN { throw Gone() }
    }

    /// The next bytes of a streamed body, read from the socket on demand; nil at its end.
    private func piece() async throws -> [UInt8]? {
        do {
            while true {
                switch try parser.piece() {
                case .end: return nil
                case .bytes(let bytes):
                    bodyDue += .seconds(1) * bytes.count / limits.streamedBytesPerSecond
                    return bytes
                case .more: try await receiveMore()
                }
            }
        } catch let problem as Refusal {
            refusal = problem
            throw problem
        }
    }

    private func receiveMore() async throws {
        try Task.checkCancellation()
        if parser.takeContinue() { try await send([UInt8]("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        if isReadable {
            try read { parser.append($0) }
            return await Task.yield()
        }
        if peerClosed { throw Refusal.badRequest("The request ended before it was complete.") }
        awaitsCaller(since: bodyDue - limits.body)
        defer { awaitsCaller(since: nil) }
        guard try await wait(until: bodyDue) else { throw Refusal.timedOut }
    }

    // MARK: Answers

    /// Finishes what `answersAtOnce` has begun; returns a request that is still to be answered.
    private func finish() async throws -> RequestParser.Message? {
        switch unfinished.take() {
        case nil: return nil
        case .refused(let refusal): throw refusal
        case .request(let message, let reply):
            known = reply
            return message
        case .answer(let head, let body, let sent):
            phase = .handling
            noticeClosing()
            let held = unsentBytes
            unsentBytes = 0
            try await send(head, body, after: sent, held: held)
            phase = .receiving
            awaitNext()
            return nil
        }
    }

    /// Answers one request; false when it was the last on this connection.
    private func answer(_ message: inout RequestParser.Message) async throws -> Bool {
        phase = .handling
        noticeClosing()
        bodyDue = .now + limits.body
        if known == nil, loop.isBehind { await ownTurn() }
        let answer =
            switch known.take() ?? context.handler(request(message)) {
            case .now(let response): response
            case .later(let work): await work()
            }
        message.body = []
        holdNothing()  // before the answer is sent, which may take long
        if let refusal { throw refusal }
        if answer.ending == .unanswered { throw Gone() }
        // The rest of an unread body would be parsed as the next request.
        let keepsAlive = message.keepsAlive && !answer.closes && !isDraining && !parser.isWithinBody
        isUnchunked = message.isOld
        let (head, response) = try written(answer, closes: !keepsAlive)
        phase = keepsAlive ? .handling : .closing
        hasAnswered = true
        let hasBody = ResponseWriter.hasBody(response, to: message.method)
        switch response.body {
        case .bytes(let body): try await send(head, hasBody ? body : [])
        case .pieces(let length, let piece):
            try await send(head)
            if hasBody { try await send(length, piece) }
        case .stream(let produce):
            try await send(head)
            if hasBody { try await stream(produce) }
            phase = keepsAlive ? .handling : .closing
        }
        guard response.ending == .complete else { throw Gone() }
        return keepsAlive
    }

    /// Discards incoming bytes until the peer has closed too. Otherwise the kernel would answer unread bytes with a
    /// reset, which could overtake the last response (RFC 9112, 9.6).
    private func linger() async throws {
        shutdown(descriptor, Int32(SHUT_WR))
        let due = ContinuousClock.now + limits.linger
        while isReadable || !peerClosed, .now < due {
            guard isReadable else {
                if try await wait(until: due) { continue } else { return }
            }
            try read { _ in }
            await Task.yield()  // to others, while this caller sends on and on
        }
    }

    // MARK: Waiting

    /// Waits for an event on the socket; false once `limit` has passed.
    func wait(until limit: ContinuousClock.Instant) async throws -> Bool {
        guard !isBroken else { throw Gone() }
        deadline = limit
        loop.announce(limit)
        await withCheckedContinuation { waiter = $0 }
        let isInTime = deadline != nil
        deadline = nil
        guard !isBroken else { throw Gone() }
        return isInTime
    }

    func resume() { waiter.take()?.resume() }

    /// Cancels the running handler or stream when the peer has closed and no further request is buffered.
    func noticeClosing() {
        guard peerClosed || isBroken, phase == .handling || phase == .streaming, parser.stage == .idle else { return }
        var byte: UInt8 = 0
        if isBroken || recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) <= 0 { task?.cancel() }
    }

    // MARK: Eviction

    /// Since when the connection has been waiting for the caller: to complete a request, send more of a streamed body,
    /// or accept the response; nil while it is not. In the future for a caller that keeps up with
    /// `ServerLimits.streamedBytesPerSecond`. Call it from any thread.
    nonisolated var waitingSince: ContinuousClock.Instant? { waiting.withLock(\.self) }

    func awaitsCaller(since instant: ContinuousClock.Instant?) { waiting.withLock { $0 = instant } }

    /// Closes the connection in favor of another: immediately, or after the response if a request has just arrived.
    /// Call it from any thread.
    nonisolated func evict() { Task(executorPreference: loop) { await self.end() } }

    private func end() { if waitingSince != nil { abort() } else { drain() } }
}

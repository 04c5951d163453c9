import EntitySchema
import JSONText
import ReferenceUpstream
import Synchronization
import Upstream

/// The upstream as the engine of one daemon process sees it; dead once that process has ended.
final class SimulatedUpstream: Upstream {
    /// What a request is for.
    enum Purpose: Sendable {
        case probe, read
        case change(key: String)
    }

    let daemon: Int
    let server: SimulatedServer
    let network: SimulatedNetwork
    let executor: SimulatedExecutor
    let log: EventLog
    /// Observes every answer, as over HTTP.
    private let clock: ServerClock
    private let clockCheck = Mutex(ClockCheck())
    private let alive = Mutex(true)
    private let counts = Mutex(RequestCounts())
    private let pages = Mutex<[String: Page]>([:])

    init(daemon: Int, server: SimulatedServer, network: SimulatedNetwork, clock: ServerClock) {
        self.daemon = daemon
        self.server = server
        self.network = network
        self.clock = clock
        executor = server.executor
        log = server.log
    }

    func die() { alive.withLock { $0 = false } }
    var isAlive: Bool { alive.withLock { $0 } }

    // MARK: For the checks

    var failures: [String: Int] { counts.withLock { $0.failures } }
    /// The largest possible error of the measured clock offset; nil before this process measured one.
    var clockUncertainty: Duration? { clockCheck.withLock { $0.uncertainty } }
    var begunWhilePaused: Int { counts.withLock { $0.begunWhilePaused } }

    var load: RequestCounts.Load? { counts.withLock { $0.load } }
    /// When a probe was first answered after the last outage.
    var backSince: Duration? { counts.withLock { $0.backSince } }

    func pauseBegins() { counts.withLock { $0.pausedAt = executor.now } }

    func pauseEnds() {
        counts.withLock { counts in
            counts.pausedAt = nil
            counts.begunWhilePaused = 0
        }
    }

    /// A user retried the failed changes, so their attempts count from zero.
    func forgiveFailures() { counts.withLock { $0.failures = [:] } }

    // MARK: Upstream

    func account() async throws(UpstreamError) -> SignedInAccount? {
        try await exchange(.read, "me", garbled: Self.notJSON) { .success(SignedInAccount(id: "company")) }
    }

    func page(_ request: PageRequest) async throws(UpstreamError) -> Page {
        let since = (request.since?.value ?? request.values.delta).map { " since \($0)" } ?? ""
        let until = request.values.until.map { " until \($0)" } ?? ""
        return try await exchange(
            .read, "page \(request.path) \(request.position ?? "1")\(since)\(until)", garbled: Self.notJSON,
            misread: { [self] in misread($0, of: request, as: $1) }
        ) { [server] in server.page(request) }
    }

    func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        guard entity.pull?.single != nil, entity.recordPath(of: known) != nil else { return nil }
        return try await exchange(
            .read, "record \(entity.name)/\(known[entity.key]?.plain ?? "?")", garbled: Self.notJSON
        ) { [server] in server.record(of: entity, known: known) }
    }

    func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> PushAnswer {
        let what = "\(request.method) \(request.path) \(request.body?.text ?? "") key \(idempotencyKey)"
        do {
            // It was applied, whatever the answer was.
            let record = try await exchange(
                .change(key: idempotencyKey), what,
                garbled: { [self] answer in
                    guard counts.withLock({ $0.garbles(idempotencyKey) }) else { return answer }
                    network.hideOutcome()
                    return answer.map { _ in nil }
                }
            ) {
                [server, daemon] in server.push(request, key: idempotencyKey, from: daemon)
            }
            return record.map { .record($0) } ?? .accepted()
        } catch {
            if case .unclear = error { counts.withLock { $0.failures[idempotencyKey, default: 0] += 1 } }
            throw error
        }
    }

    func probe() async throws(UpstreamError) {
        do {
            try await exchange(.probe, "probe", garbled: { $0 }) { .success(()) }
        } catch .unclear(status: nil, let message) {
            throw .offline(message)
        }
        counts.withLock { $0.noteAnsweredProbe(at: executor.now) }
    }

    func open() async throws(UpstreamError) {
        try await exchange(.read, "stream", garbled: Self.notJSON) { .success(()) }
    }

    private static func notJSON<Value>(_ answer: Result<Value, UpstreamError>) -> Result<Value, UpstreamError> {
        answer.flatMap { _ in .failure(.malformed("not JSON")) }
    }

    /// A page that repeats another one or points back to one.
    private func misread(
        _ answer: Result<Page, UpstreamError>, of request: PageRequest, as fault: SimulatedNetwork.Fault?
    ) -> Result<Page, UpstreamError> {
        guard case .success(var page) = answer else { return answer }
        let number = SimulatedServer.FeedPosition(request.position).page
        if request.path == Feeds.eventsPath { return answer }
        if fault == .loopsBack { page.next = "\(executor.random { $0.within(1...number) })" }
        return pages.withLock { pages in
            let before = request.position == nil ? nil : pages[request.path]
            if fault == .repeatsPage, var before {
                // The whole page, or only its records.
                if executor.random({ $0.chance(0.5) }) { before.next = page.next }
                page = before
            }
            pages[request.path] = page
            return .success(page)
        }
    }

    // MARK: Exchanges

    /// A request that was sent is carried out even if its caller no longer waits for the answer.
    private func exchange<Value: Sendable>(
        _ purpose: Purpose, _ what: String,
        garbled: @escaping @Sendable (Result<Value, UpstreamError>) -> Result<Value, UpstreamError>,
        misread:
            @escaping @Sendable (Result<Value, UpstreamError>, SimulatedNetwork.Fault?) -> Result<Value, UpstreamError> =
            { answer, _ in answer },
        _ serve: @escaping @Sendable () -> Result<Value, UpstreamError>
    ) async throws(UpstreamError) -> Value {
        guard isAlive, !Task.isCancelled else { throw .cancelled }
        counts.withLock {
            $0.begin(purpose, at: executor.now, in: network.isOnline ? network.outage(at: executor.now) : nil)
        }
        let answer = await withCheckedContinuation { continuation in
            send(
                purpose, what,
                { [self] fault in
                    let answer = served(fault, serve)
                    return fault == .garbled ? garbled(answer) : misread(answer, fault)
                }
            ) { continuation.resume(returning: $0) }
        }
        guard isAlive, !Task.isCancelled else { throw .cancelled }
        if case .failure(let error) = answer { log.add("d\(daemon) gets \(what): \(error)") }
        return try answer.get()
    }

    private func send<Value: Sendable>(
        _ purpose: Purpose, _ what: String,
        _ serve: @escaping @Sendable (SimulatedNetwork.Fault?) -> Result<Value, UpstreamError>,
        _ answered: @escaping @Sendable (Result<Value, UpstreamError>) -> Void
    ) {
        guard network.isOnline else {
            executor.after(.milliseconds(5)) { answered(.failure(.offline("no route"))) }
            return
        }
        let sentAt = executor.now
        if let (failure, delay) = outageFailure(purpose) {
            log.add("d\(daemon) requests \(what) (outage)")
            executor.after(delay) { [self] in
                if !failure.isSilence { observe(server.now, sentAt) }
                answered(.failure(failure))
            }
            return
        }
        let fault = network.nextFault()
        log.add("d\(daemon) requests \(what)\(fault.map { " (\($0))" } ?? "")")
        let longest = network.isQuick ? 3 : 200
        let (there, back) = executor.random { random in
            (random.within(1...longest), fault == .slow ? random.within(1_000...50_000) : random.within(1...longest))
        }
        executor.after(.milliseconds(there)) { [self] in
            let answer = serve(fault)
            let date = server.now
            executor.after(.milliseconds(back)) { [self] in
                let arrives = network.isOnline
                if arrives, !answer.isSilence { observe(date, sentAt) }
                answered(arrives ? answer : .failure(.unclear(status: nil, "the connection was cut")))
            }
        }
    }

    /// How a request fails in an outage, and after how long; nil when it is served.
    private func outageFailure(_ purpose: Purpose) -> (UpstreamError, after: Duration)? {
        guard let outage = network.outage(at: executor.now) else { return nil }
        let failure = (UpstreamError.unclear(status: 500, "out of order"), after: Duration.milliseconds(20))
        switch (outage.kind, purpose) {
        case (.isSilent, _): return (.unclear(status: nil, "no answer"), after: .seconds(10))
        case (.looksWell, .probe), (.failsChanges, .probe), (.failsChanges, .read): return nil
        case (.fails, _), (.looksWell, _), (.failsChanges, .change): return failure
        }
    }

    /// Observes an answer's `Date`, which has whole seconds.
    private func observe(_ date: Timestamp, _ sentAt: Duration) {
        clock.observe(
            date: Timestamp(milliseconds: date.milliseconds / 1000 * 1000), sentAt: sentAt, receivedAt: executor.now)
        clockCheck.withLock { $0.observe(exchange: executor.now - sentAt) }
    }

    private func served<Value: Sendable>(
        _ fault: SimulatedNetwork.Fault?, _ serve: () -> Result<Value, UpstreamError>
    ) -> Result<Value, UpstreamError> {
        switch fault {
        case nil, .slow, .garbled, .repeatsPage, .loopsBack: return serve()
        case .failsBefore: return .failure(.unclear(status: 500, "oops"))
        case .lostBefore: return .failure(.unclear(status: nil, "no answer"))
        case .throttled: return .failure(.throttled(.seconds(20), "too many requests"))
        case .unauthorized: return .failure(.unauthorized("this token has expired"))
        case .failsAfter:
            if case .failure(let error) = serve() { return .failure(error) }
            return .failure(.unclear(status: 500, "oops"))
        case .lostAfter:
            _ = serve()
            return .failure(.unclear(status: nil, "no answer"))
        }
    }
}

extension UpstreamError {
    /// Nothing was answered, not even a failure.
    fileprivate var isSilence: Bool {
        switch self {
        case .offline, .unclear(status: nil, _): true
        default: false
        }
    }
}

extension Result where Failure == UpstreamError {
    fileprivate var isSilence: Bool { if case .failure(let error) = self { error.isSilence } else { false } }
}

import EntitySchema
import JSONText
import Synchronization
import Upstream

/// What lies between one daemon and the upstream: delays, outages and answers that get lost.
final class SimulatedNetwork: Sendable {
    /// What happens to one of the next requests.
    enum Fault: String, Sendable, CaseIterable {
        /// 500, nothing done; and 500 although it was done.
        case failsBefore, failsAfter
        /// No answer, nothing done; and none although it was done.
        case lostBefore, lostAfter
        case throttled, unauthorized, slow
    }

    struct State: Sendable {
        var isOnline = true
        var faults: [Fault] = []
        var isPaused = false
    }

    let state = Mutex(State())

    func setOnline(_ isOnline: Bool) { state.withLock { $0.isOnline = isOnline } }
    func add(_ fault: Fault, times: Int) { state.withLock { $0.faults += Array(repeating: fault, count: times) } }

    func heal() {
        state.withLock { state in
            state.isOnline = true
            state.faults = []
        }
    }

    var isOnline: Bool { state.withLock { $0.isOnline } }

    func nextFault() -> Fault? { state.withLock { $0.faults.isEmpty ? nil : $0.faults.removeFirst() } }
}

/// One life of one daemon, as its engine sees the upstream; dead once that life is over.
final class SimulatedUpstream: Upstream {
    /// What its requests came to, for the checks.
    private struct Account: Sendable {
        /// The moment when a pause was answered; nil while there is none.
        var pausedAt: Duration?
        /// Requests that were begun after that moment.
        var begunWhilePaused = 0
        /// Failed answers to pushes that count towards giving up, by idempotency key.
        var failures: [String: Int] = [:]
    }

    let daemon: Int
    let server: SimulatedServer
    let network: SimulatedNetwork
    let executor: SimulatedExecutor
    let log: EventLog
    /// Learns from every answer, as that of HTTP does.
    private let clock: ServerClock
    private let clockCheck = Mutex(ClockCheck())
    private let alive = Mutex(true)
    private let account = Mutex(Account())

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

    var failures: [String: Int] { account.withLock { $0.failures } }
    /// How far off the measured offset of the server's clock may be; nil before anything was measured in this life.
    var clockUncertainty: Duration? { clockCheck.withLock { $0.uncertainty } }
    var begunWhilePaused: Int { account.withLock { $0.begunWhilePaused } }

    func pauseBegins() { account.withLock { $0.pausedAt = executor.now } }

    func pauseEnds() {
        account.withLock { account in
            account.pausedAt = nil
            account.begunWhilePaused = 0
        }
    }

    /// A person had failed changes tried again: they count anew.
    func forgiveFailures() { account.withLock { $0.failures = [:] } }

    // MARK: Upstream

    func account() async throws(UpstreamError) -> String? {
        try await exchange("me") { .success("company") }
    }

    func page(_ request: PageRequest) async throws(UpstreamError) -> Page {
        let since = request.since.map { " since \($0.value)" } ?? ""
        return try await exchange("page \(request.path) \(request.position ?? "1")\(since)") { [server] in
            server.page(request)
        }
    }

    func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        try await exchange("record \(entity.name)/\(known[entity.key]?.plain ?? "?")") { [server] in
            server.record(of: entity, known: known)
        }
    }

    func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> RemoteRecord? {
        let what = "\(request.method) \(request.path) \(request.body?.text ?? "") key \(idempotencyKey)"
        do {
            return try await exchange(what) { [server, daemon] in
                server.push(request, key: idempotencyKey, from: daemon)
            }
        } catch {
            if case .unclear = error { account.withLock { $0.failures[idempotencyKey, default: 0] += 1 } }
            throw error
        }
    }

    func probe() async throws(UpstreamError) {
        try await exchange("probe") { .success(()) }
    }

    // MARK: The way there and back

    /// A request that has left is carried out even if nobody waits for its answer any more.
    private func exchange<Value: Sendable>(
        _ what: String, _ serve: @escaping @Sendable () -> Result<Value, UpstreamError>
    ) async throws(UpstreamError) -> Value {
        guard isAlive, !Task.isCancelled else { throw .cancelled }
        account.withLock { if let paused = $0.pausedAt, paused < executor.now { $0.begunWhilePaused += 1 } }
        let answer = await withCheckedContinuation { continuation in
            send(what, serve) { continuation.resume(returning: $0) }
        }
        guard isAlive, !Task.isCancelled else { throw .cancelled }
        if case .failure(let error) = answer { log.add("d\(daemon) gets \(what): \(error)") }
        return try answer.get()
    }

    private func send<Value: Sendable>(
        _ what: String, _ serve: @escaping @Sendable () -> Result<Value, UpstreamError>,
        _ answered: @escaping @Sendable (Result<Value, UpstreamError>) -> Void
    ) {
        let isSlow = { (fault: SimulatedNetwork.Fault?) in fault == .slow }
        guard network.isOnline else {
            executor.after(.milliseconds(5)) { answered(.failure(.offline("no way there"))) }
            return
        }
        let fault = network.nextFault()
        log.add("d\(daemon) asks \(what)\(fault.map { " (\($0))" } ?? "")")
        let (there, back) = executor.random { random in
            (random.within(1...200), isSlow(fault) ? random.within(1_000...50_000) : random.within(1...200))
        }
        let sentAt = executor.now
        executor.after(.milliseconds(there)) { [self] in
            let answer = served(fault, serve)
            let date = server.now
            executor.after(.milliseconds(back)) { [self] in
                let arrives = network.isOnline
                if arrives, !answer.isSilence { observe(date, sentAt) }
                answered(arrives ? answer : .failure(.unclear(status: nil, "the connection was cut")))
            }
        }
    }

    /// Takes an answer's `Date`, which has whole seconds, into account.
    private func observe(_ date: Timestamp, _ sentAt: Duration) {
        clock.observe(
            date: Timestamp(milliseconds: date.milliseconds / 1000 * 1000), sentAt: sentAt, receivedAt: executor.now)
        clockCheck.withLock { $0.observe(exchange: executor.now - sentAt) }
    }

    private func served<Value: Sendable>(
        _ fault: SimulatedNetwork.Fault?, _ serve: () -> Result<Value, UpstreamError>
    ) -> Result<Value, UpstreamError> {
        switch fault {
        case nil, .slow: return serve()
        case .failsBefore: return .failure(.unclear(status: 500, "oops"))
        case .lostBefore: return .failure(.unclear(status: nil, "no answer"))
        case .throttled: return .failure(.throttled(.seconds(20), "too many requests"))
        case .unauthorized: return .failure(.unauthorized("this token is spent"))
        case .failsAfter:
            if case .failure(let error) = serve() { return .failure(error) }
            return .failure(.unclear(status: 500, "oops"))
        case .lostAfter:
            _ = serve()
            return .failure(.unclear(status: nil, "no answer"))
        }
    }
}

extension Result where Failure == UpstreamError {
    /// Nothing came back, not even a failure.
    fileprivate var isSilence: Bool {
        switch self {
        case .failure(.offline), .failure(.unclear(status: nil, _)): true
        default: false
        }
    }
}

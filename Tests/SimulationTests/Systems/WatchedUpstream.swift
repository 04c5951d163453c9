import EntitySchema
import JSONText
import Upstream

/// An upstream that notes for `SystemRequests` what each request of the daemon is for.
struct WatchedUpstream: Upstream {
    private let upstream: any Upstream
    private let requests: SystemRequests
    private var turn = RequestTurn()

    init(_ upstream: any Upstream, _ requests: SystemRequests) {
        self.upstream = upstream
        self.requests = requests
    }

    func taking(_ turn: RequestTurn) -> any Upstream {
        var copy = self
        copy.turn = turn
        return copy
    }

    private func read<Answer: Sendable>(
        _ body: (any Upstream) async throws(UpstreamError) -> Answer
    ) async throws(UpstreamError) -> Answer {
        let call = requests.newCall(turn.urgency == .background ? .pull : .other)
        return try await make(call, upstream.taking(turn), body)
    }

    private func change<Answer: Sendable>(
        _ body: (any Upstream) async throws(UpstreamError) -> Answer
    ) async throws(UpstreamError) -> Answer {
        let call = requests.newCall(.change)
        defer { requests.end(call) }
        let turn = RequestTurn(urgency: turn.urgency) { [requests, turn] pause in
            requests.wait(call)
            turn.waits(pause)
        }
        return try await make(call, upstream.taking(turn), body)
    }

    private func make<Answer: Sendable>(
        _ call: SystemRequests.Call, _ upstream: any Upstream,
        _ body: (any Upstream) async throws(UpstreamError) -> Answer
    ) async throws(UpstreamError) -> Answer {
        let outcome: Result<Answer, UpstreamError> = await SystemRequests.$call.withValue(call) {
            do throws(UpstreamError) { return .success(try await body(upstream)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    // MARK: Reading

    func account() async throws(UpstreamError) -> SignedInAccount? {
        try await read { upstream async throws(UpstreamError) in try await upstream.account() }
    }

    func confirmToken() async throws(UpstreamError) {
        try await read { upstream async throws(UpstreamError) in try await upstream.confirmToken() }
    }

    func page(_ request: PageRequest) async throws(UpstreamError) -> Page {
        try await read { upstream async throws(UpstreamError) in try await upstream.page(request) }
    }

    func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        try await read { upstream async throws(UpstreamError) in
            try await upstream.record(of: entity, known: known)
        }
    }

    func download(_ address: String, limit: Int, into sink: BodySink) async throws(UpstreamError) -> String? {
        try await read { upstream async throws(UpstreamError) in
            try await upstream.download(address, limit: limit, into: sink)
        }
    }

    func follow(
        _ stream: SignalStream, after lastEvent: String?, clock: any Clock<Duration>,
        receive: @escaping @Sendable (StreamNews) -> Void
    ) async throws(UpstreamError) -> StreamEnd {
        try await upstream.taking(turn).follow(stream, after: lastEvent, clock: clock, receive: receive)
    }

    func probe() async throws(UpstreamError) {
        try await read { upstream async throws(UpstreamError) in try await upstream.probe() }
    }

    // MARK: Changes

    func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> PushAnswer {
        try await change { upstream async throws(UpstreamError) in
            try await upstream.push(request, idempotencyKey: idempotencyKey)
        }
    }

    func push(_ batch: BatchRequest) async throws(UpstreamError) -> [BatchResult] {
        try await change { upstream async throws(UpstreamError) in try await upstream.push(batch) }
    }

    func upload(
        _ request: PushRequest, from source: BodySource, idempotencyKey: String
    ) async throws(UpstreamError) -> PushAnswer {
        try await change { upstream async throws(UpstreamError) in
            try await upstream.upload(request, from: source, idempotencyKey: idempotencyKey)
        }
    }

    // MARK: The rest

    func serves(_ address: String) -> Bool { upstream.serves(address) }

    func networkChanged() { upstream.networkChanged() }

    var budget: RequestBudget.Balance? { upstream.budget }

    var missing: String? {
        get async { await upstream.missing }
    }
}

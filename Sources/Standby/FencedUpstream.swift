package import EntitySchema
package import JSONText
package import Upstream

/// An upstream to which changes go only while this daemon holds the lease. Everything is read as usual.
///
/// A request that is under way when the lease ends is given up then: the next holder begins no sooner. Whether it was applied
/// is not known, as after a lost answer.
package struct FencedUpstream: Upstream {
    private var inner: any Upstream
    private let lease: Lease
    /// Called before each request, while the lease lasts: brings etcd up to date with the queue. Throws if it could not.
    private let store: @Sendable () async throws(StandbyError) -> Void
    private var turn = RequestTurn()

    /// Changes are fenced by the turn that `inner` takes.
    package init(
        _ inner: any Upstream, lease: Lease, store: @escaping @Sendable () async throws(StandbyError) -> Void = {}
    ) {
        self.inner = inner
        self.lease = lease
        self.store = store
    }

    // MARK: Changes

    package func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> PushAnswer {
        try await fenced { (inner) async throws(UpstreamError) in
            try await inner.push(request, idempotencyKey: idempotencyKey)
        }
    }

    package func push(_ batch: BatchRequest) async throws(UpstreamError) -> [BatchResult] {
        try await fenced { (inner) async throws(UpstreamError) in try await inner.push(batch) }
    }

    package func upload(
        _ request: PushRequest, from source: BodySource, idempotencyKey: String
    ) async throws(UpstreamError) -> PushAnswer {
        try await fenced { (inner) async throws(UpstreamError) in
            try await inner.upload(request, from: source, idempotencyKey: idempotencyKey)
        }
    }

    private func fenced<Answer: Sendable>(
        _ request: @escaping @Sendable (any Upstream) async throws(UpstreamError) -> Answer
    ) async throws(UpstreamError) -> Answer {
        guard let revision = lease.valid?.revision else { throw .held("another daemon may push") }
        do throws(StandbyError) {
            try await store()
        } catch {
            lease.holdBack()
            throw .held("the queue could not be stored in etcd: \(error.message)")
        }
        let fence = Fence(lease, revision)
        var turn = turn
        turn.fence = { () async throws(UpstreamError) in try await fence.pass() }
        let upstream = inner.taking(turn)
        let answer = await answer(under: revision) { () async throws(UpstreamError) in try await request(upstream) }
        if let answer { return try answer.get() }
        let reason = "this daemon's lease ended before the"
        guard fence.isPassed else { throw .held("\(reason) change was sent") }
        throw .unclear(status: nil, "\(reason) answer came")
    }

    /// Nil if the lease ended before an answer came.
    private func answer<Answer: Sendable>(
        under revision: Int64, to request: @escaping @Sendable () async throws(UpstreamError) -> Answer
    ) async -> Result<Answer, UpstreamError>? {
        await withTaskGroup(of: Result<Answer, UpstreamError>?.self) { group in
            group.addTask {
                do throws(UpstreamError) {
                    return .success(try await request())
                } catch {
                    return .failure(error)
                }
            }
            group.addTask { [lease] in
                await lease.lapse(of: revision)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            if let first { return first }
            let late = await group.next() ?? nil
            // What was cancelled together with this task was cancelled by its caller.
            if case .failure(.cancelled)? = late, !Task.isCancelled { return nil }
            return late
        }
    }

    // MARK: Everything else

    package func account() async throws(UpstreamError) -> SignedInAccount? { try await inner.account() }

    package func confirmToken() async throws(UpstreamError) { try await inner.confirmToken() }

    package func page(_ request: PageRequest) async throws(UpstreamError) -> Page { try await inner.page(request) }

    package func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        try await inner.record(of: entity, known: known)
    }

    package func download(
        _ address: String, limit: Int, into sink: BodySink
    ) async throws(UpstreamError) -> String? {
        try await inner.download(address, limit: limit, into: sink)
    }

    package func follow(
        _ stream: SignalStream, after lastEvent: String?, clock: any Clock<Duration>,
        receive: @escaping @Sendable (StreamNews) -> Void
    ) async throws(UpstreamError) -> StreamEnd {
        try await inner.follow(stream, after: lastEvent, clock: clock, receive: receive)
    }

    package func serves(_ address: String) -> Bool { inner.serves(address) }

    package func probe() async throws(UpstreamError) { try await inner.probe() }

    package func networkChanged() { inner.networkChanged() }

    package func taking(_ turn: RequestTurn) -> any Upstream {
        var copy = self
        (copy.inner, copy.turn) = (inner.taking(turn), turn)
        return copy
    }

    package var budget: RequestBudget.Balance? { inner.budget }

    package var missing: String? { get async { await inner.missing } }
}

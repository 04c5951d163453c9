internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Sends queued changes: each record's in order, different records at once.
struct Pusher {
    let schema: EntitySchema
    let store: CacheStore
    let upstream: any Upstream
    let settings: SyncSettings
    let now: @Sendable () -> Timestamp
    /// In 0..<1.
    let random: @Sendable () -> Double

    /// Sends until nothing is ready. Throws what concerns the whole upstream; then nothing more is begun, and what was
    /// under way has been settled.
    func drain() async throws {
        let failure = try await withThrowingTaskGroup(of: (Int64, UpstreamError?).self) { group in
            var inFlight: Set<Int64> = []
            var failure: UpstreamError?
            while true {
                if failure == nil {
                    let ready = try store.readyChanges(limit: settings.parallel + inFlight.count, at: now())
                    for change in ready where inFlight.count < settings.parallel && !inFlight.contains(change.id) {
                        inFlight.insert(change.id)
                        group.addTask { (change.id, try await send(change)) }
                    }
                }
                guard let (id, error) = try await group.next() else { return failure }
                inFlight.remove(id)
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Makes one attempt and settles it. Returns an error that concerns the whole upstream.
    private func send(_ change: OutboxChange) async throws -> UpstreamError? {
        guard let entity = schema[change.entity],
            let request = entity.request(for: change.operation, record: change.record, body: change.body)
        else {
            let failure = PushFailure(kind: "unsendable", message: "the schema has no way to send this change")
            try await store.settle(change.id, .failed(failure), at: now())
            return nil
        }
        guard try await store.begin(change, at: now()) else { return nil }
        let outcome: PushOutcome
        var failure: UpstreamError?
        do throws(UpstreamError) {
            let answer = try await upstream.push(request, idempotencyKey: change.idempotencyKey)
            outcome = .acknowledged(record: answer?.record, version: answer?.version)
        } catch .cancelled {
            // Left as uploading: it is sent again with the same key at the next start.
            throw CancellationError()
        } catch {
            outcome = self.outcome(of: error, change)
            failure = error
        }
        if case .changed = failure { try await refresh(change, entity) }
        try await store.settle(change.id, outcome, at: now())
        return failure.flatMap { $0.concernsWholeUpstream ? $0 : nil }
    }

    private func outcome(of error: UpstreamError, _ change: OutboxChange) -> PushOutcome {
        switch error {
        case .offline, .cancelled: .notSent
        case .unclear(let status, let message):
            again(change, PushFailure(kind: status == nil ? "timeout" : "server", status: status, message: message))
        case .malformed(let message): again(change, PushFailure(kind: "malformed", message: message))
        case .changed(let status, let message):
            again(change, PushFailure(kind: "conflict", status: status, message: message))
        case .throttled(let delay, let message):
            .waiting(PushFailure(kind: "throttled", message: message), at: now() + delay, counted: false)
        case .unauthorized(let message):
            .waiting(PushFailure(kind: "unauthorized", status: 401, message: message), at: now(), counted: false)
        case .gone where change.operation == .delete: .acknowledged(record: nil)
        case .gone(let status, let message): .failed(PushFailure(kind: "gone", status: status, message: message))
        case .refused(let status, let message):
            .failed(PushFailure(kind: "refused", status: status, message: message))
        }
    }

    private func again(_ change: OutboxChange, _ failure: PushFailure) -> PushOutcome {
        let attempt = change.attemptCount + 1
        guard !settings.retry.isLast(attempt: attempt) else { return .failed(failure) }
        return .waiting(failure, at: now() + settings.retry.delay(attempt: attempt, random: random()), counted: true)
    }

    /// Brings the server's version of a record that was changed there, so that the next attempt builds on it.
    private func refresh(_ change: OutboxChange, _ entity: Entity) async throws {
        guard let position = try? store.position(),
            let answer = try? await upstream.record(of: entity, known: change.record)
        else { return }
        let page = PulledPage(entity: entity.name, records: JSONText.array([answer.record]).text, position: position)
        _ = try await store.apply(page, at: now())
    }
}

extension UpstreamError {
    /// True for what no other request would fare better with right now.
    var concernsWholeUpstream: Bool {
        switch self {
        case .offline, .throttled, .unauthorized, .cancelled: true
        case .unclear, .changed, .gone, .refused, .malformed: false
        }
    }
}

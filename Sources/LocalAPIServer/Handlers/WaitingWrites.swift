internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SQLiteStore
internal import SocketServer
internal import SyncEngine

/// Writes whose callers wait for the upstream: `?wait=pushed&timeout=10`.
extension Handlers {
    /// Does a write to a record and, if the request asks for that, waits for what becomes of it; `body` returns the
    /// record's key and the answer.
    ///
    /// Confirmed: the write's own status, with the record as the upstream has it. Anything else: 202 with the record, whose
    /// `_sync` says in `push` what stands in the way. A repeat under an `Idempotency-Key` waits for the first one's changes.
    func change(
        _ operation: Operation, of entity: Entity, _ request: Request,
        _ body: @escaping @Sendable (LocalTransaction) throws -> (key: String, answer: Response)
    ) async throws -> Response {
        let wait = try PushWait(request)
        let fields = try wait == nil || operation == .delete ? [] : object(request).members.map(\.key)
        let written = try await writeOnce(request) { transaction in
            guard wait != nil else { return Written(response: try body(transaction).answer) }
            var answer = Response(status: 204)
            let queued = try transaction.track(operation, of: entity.name, fields: fields) {
                let done = try body(transaction)
                answer = done.answer
                return done.key
            }
            return Written(response: answer, queued: queued)
        }
        engine.noteLocalWrite()
        guard let wait, let queued = written.queued else { return written.response }
        let progress = try await within(wait.limit) { try await outcome(of: queued) }
        return try answer(written.response, entity, queued, progress)
    }

    /// Returns when it is not pending any more, the task is cancelled, or the server stops.
    private func outcome(of write: QueuedWrite) async throws -> PushProgress {
        while true {
            let commits = store.signal.commits
            let progress = try store.progress(of: write)
            guard case .pending = progress, !Task.isCancelled, !store.signal.isClosed else { return progress }
            await store.signal.wait(after: commits)
        }
    }

    // MARK: The answer

    private func answer(
        _ written: Response, _ entity: Entity, _ queued: QueuedWrite, _ progress: PushProgress
    ) throws -> Response {
        if progress == .confirmed, queued.operation == .delete { return written }
        let shown = try store.shown(entity.name, key: queued.key)
        let record = try shown.map { try JSONText($0.bytes) }
        var response: Response
        if progress != .confirmed {
            response = .json(202, Array(unconfirmed(record, entity, queued, progress).bytes))
        } else if let shown {
            response = .json(written.status, shown.bytes)
            response.headers.append(("ETag", EntityTag.text(of: shown.version)))
        } else {
            throw Problem.notFound(
                "the upstream took the change, and \(entity.name)/\(queued.key) has been deleted since")
        }
        if queued.operation == .create {
            let id = Entity.percentEncoded(record?[entity.key]?.plain ?? queued.key)
            response.headers.append(("Location", "/v1/\(entity.name)/\(id)"))
        }
        return response
    }

    /// The record, or what stands for one that is deleted here.
    private func unconfirmed(
        _ record: JSONText?, _ entity: Entity, _ queued: QueuedWrite, _ progress: PushProgress
    ) -> JSONText {
        var push: [(key: String, value: JSONText)] = [
            ("state", .string(Self.word(for: progress))),
            ("changes", .array(queued.changes.map { .integer(Int($0)) })),
        ]
        if case .pending(let position) = progress { push.append(("position", .integer(position))) }
        let document = record ?? .object(members: [(key: entity.key, value: JSONText.string(queued.key))])
        let sync = document["_sync"] ?? .object([:])
        return document.setting("_sync", to: sync.setting("push", to: .object(members: push)))
    }

    private static func word(for progress: PushProgress) -> String {
        switch progress {
        case .confirmed: "confirmed"
        case .pending: "pending"
        case .failed: "failed"
        case .blocked: "blocked"
        case .conflict: "conflict"
        case .discarded: "discarded"
        }
    }
}

/// How long a write's caller waits; nil when it does not.
struct PushWait {
    let limit: Duration

    init?(_ request: Request) throws(Problem) {
        let parameters = try QueryParameters(request)
        let timeout = try parameters.integer("timeout", in: 1...60, else: 10)
        switch try parameters.value("wait") {
        case "pushed": limit = .seconds(timeout)
        case nil:
            guard try parameters.value("timeout") == nil else {
                throw .badRequest("timeout goes with wait=pushed", field: "timeout")
            }
            return nil
        default: throw .badRequest("expected pushed", field: "wait")
        }
    }
}

internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SQLiteStore
internal import SocketServer
internal import SyncEngine

/// Writes whose callers wait for the upstream: `?wait=pushed&timeout=10`, or `Prefer: wait=10`.
extension Handlers {
    /// Does a write to a record and, if the request asks for it, waits for the outcome.
    ///
    /// A confirmed write answers with its own status and the record as the upstream has it. Any other answers 202 with
    /// the record; `_sync.push` says why it is not confirmed. A repeat under an `Idempotency-Key` waits for the changes
    /// of the first request.
    func change(_ entity: Entity, _ kind: RecordWrite.Kind, _ request: Request) async throws -> Response {
        var mistakes = mistakes
        let wait: PushWait? = mistakes.collect(nil, try PushWait(request))
        let write = try RecordWrite(entity, kind, request, &mistakes)
        var written = try await once(request, mistakes) { transaction in
            let done = try write.perform(in: transaction, isTracked: wait != nil)
            return Written(result: try WriteResult(done, of: write.held.entity, transaction), queued: done.queued)
        }
        engine.noteLocalWrite()
        guard let wait, let queued = written.queued else { return written.response }
        let status = written.result.status
        written.dropRecord()
        let progress = try await within(wait.limit) { try await outcome(of: queued) }
        var response = try written.noting(answer(status, entity, queued, progress))
        if let applied = wait.preference { response.headers.append(("Preference-Applied", applied)) }
        return response
    }

    /// Returns when the write is no longer pending, the task is cancelled, or the server stops.
    func outcome(of write: QueuedWrite) async throws -> PushProgress {
        waitingWrites.add()
        defer { waitingWrites.remove() }
        while true {
            let commits = store.signal.commits
            let begun = metrics.uptime()
            // Each commit wakes all who wait, and the answer takes longer the more changes wait for others.
            if let end = try store.end(of: write) { return end }
            guard !Task.isCancelled, !store.signal.isClosed else { return try store.progress(of: write) }
            await letCommitsPass(after: metrics.uptime() - begun, callers: waitingWrites.value)
            await store.signal.wait(after: commits)
        }
    }

    // MARK: The answer

    private func answer(
        _ status: Int, _ entity: Entity, _ queued: QueuedWrite, _ progress: PushProgress
    ) throws -> Response {
        if progress == .confirmed, queued.operation == .delete { return Response(status: status) }
        let shown = try store.shown(entity.name, key: queued.key)
        let record = try shown.map { try JSONText($0.bytes) }
        var response: Response
        if progress != .confirmed {
            response = .document(try unconfirmed(record, entity, queued, progress), 202)
            if let shown { response.headers.append(("ETag", EntityTag.text(of: shown.version))) }
        } else if let shown {
            response = .record(status, shown)
        } else {
            throw Problem.notFound(
                "the upstream took the change, and \(entity.name)/\(queued.key) has been deleted since")
        }
        if status == 201 {
            let id = Entity.percentEncoded(record?[entity.key]?.plain ?? queued.key)
            response.headers.append(("Location", "/v1/\(entity.name)/\(id)"))
        }
        return response
    }

    /// The record, or just its key if it is deleted locally.
    func unconfirmed(
        _ record: JSONText?, _ entity: Entity, _ queued: QueuedWrite, _ progress: PushProgress
    ) throws -> JSONText {
        var push: [(key: String, value: JSONText)] = [
            ("state", .string(Self.word(for: progress))),
            ("changes", .array(try store.carriers(of: queued).map { .integer(Int($0)) })),
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

/// How long the caller of a write waits; nil when it does not wait.
struct PushWait {
    /// The longest wait, in seconds.
    private static let longest = 60

    let limit: Duration
    /// The preference that is honoured, if that is why it waits.
    var preference: String?

    init?(_ request: Request) throws(Problem) {
        let parameters = try QueryParameters(request)
        var mistakes = Mistakes()
        let timeout = mistakes.collect(10, try parameters.integer("timeout", in: 1...Self.longest, else: 10))
        let waits = mistakes.collect(false) { () throws(Problem) in
            guard let wait = try parameters.value("wait") else { return false }
            guard wait == "pushed" else { throw .parameter("wait", "expected pushed") }
            return true
        }
        try mistakes.throwAny()
        guard !waits else {
            limit = .seconds(timeout)
            return
        }
        guard try parameters.value("timeout") == nil else {
            throw .parameter("timeout", "timeout is only allowed with wait=pushed", .conflictingParameters)
        }
        guard let seconds = Preference(request).wait, seconds > 0 else { return nil }
        limit = .seconds(min(seconds, Self.longest))
        preference = "wait=\(min(seconds, Self.longest))"
    }
}

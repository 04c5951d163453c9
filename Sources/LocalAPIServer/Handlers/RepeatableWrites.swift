internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SQLiteStore
internal import SocketServer
internal import Synchronization

/// Writes that a caller can repeat when it does not know the outcome of the first.
extension Handlers {
    /// Does a write in one transaction and answers with what it returns. With `Idempotency-Key`, a repeat of the
    /// request does nothing and gets the answer of the first.
    ///
    /// `mistakes` are those of the request. If it has any, nothing is done, and they are thrown with those that `body` finds.
    ///
    /// `body` may run twice, so it only reads and writes the database; the answer is rendered once, after the commit.
    func write(
        _ request: Request, _ mistakes: Mistakes, _ body: @escaping @Sendable (LocalTransaction) throws -> WriteResult
    ) async throws -> Response {
        try await once(request, mistakes) { try Written(result: body($0)) }.response
    }

    /// The same for a write that keeps more than its answer.
    func once<Result: RepeatableResult>(
        _ request: Request, _ mistakes: Mistakes, _ body: @escaping @Sendable (LocalTransaction) throws -> Result
    ) async throws -> Result {
        guard let standby = parts.standby else { return try await committed(request, mistakes, body) }
        try standby.requireLease()
        try standby.requireRoom(request.body.count)
        let result = try await committed(request, mistakes) { try standby.fitting($0, body) }
        // A repeat too: the first may have ended before its change was stored.
        try await standby.requireStored()
        return result
    }

    private func committed<Result: RepeatableResult>(
        _ request: Request, _ mistakes: Mistakes, _ body: @escaping @Sendable (LocalTransaction) throws -> Result
    ) async throws -> Result {
        guard mistakes.isEmpty else { throw try await refusal(request, mistakes, body) }
        guard let key = try IdempotencyKey(request) else {
            return try await store.write(
                for: ReadCaller(request), at: now(), clockOffset: clockOffset, trace: TraceContext(request), body)
        }
        var target = [request.method, request.path, request.query ?? ""].joined(separator: "\n") + "\n"
        // The same bytes mean something else as another patch.
        if PatchFormat.isMergePatch(request) { target += PatchFormat.mergePatch + "\n" }
        let call = RepeatableCall(key: key.text, request: Array(target.utf8) + request.body)
        let hasRun = Mutex(false)
        let stored = try await store.write(
            once: call, for: ReadCaller(request), at: now(), clockOffset: clockOffset, trace: TraceContext(request)
        ) { transaction in
            hasRun.withLock { $0 = true }
            return try body(transaction).stored.text
        }
        var result = try Result(stored: JSONText(parsing: stored))
        result.isRepeated = !hasRun.withLock { $0 }
        return result
    }

    /// The mistakes with those that `body` finds; what it did is undone.
    private func refusal<Result>(
        _ request: Request, _ mistakes: Mistakes, _ body: @escaping @Sendable (LocalTransaction) throws -> Result
    ) async throws -> Problem {
        var mistakes = mistakes
        do {
            try await store.write(for: ReadCaller(request), at: now(), clockOffset: clockOffset) {
                (transaction) throws -> Void in
                _ = try body(transaction)
                throw Undo()
            }
        } catch is Undo {
            // `body` found no mistake.
        } catch let problem as Problem {
            mistakes.addInput(problem)
        } catch let error as CacheError {
            mistakes.addInput(Problem(error))
        }
        return mistakes.problem
    }
}

/// Ends a transaction that was only to find mistakes.
private struct Undo: Error {}

/// What a repeatable write leaves, from which each repeat is answered.
protocol RepeatableResult: Sendable {
    /// As the transaction of the write stores it.
    var stored: JSONText { get }
    /// The request was done before, and this is what it left then.
    var isRepeated: Bool { get set }

    init(stored: JSONText) throws(Problem)
}

extension RepeatableResult {
    /// The answer with `Idempotent-Replayed`, if that is what it is.
    func noting(_ response: Response) -> Response {
        guard isRepeated else { return response }
        var response = response
        response.headers.append(("Idempotent-Replayed", "true"))
        return response
    }
}

extension TraceContext {
    /// The trace that a caller names. Nil without one, and for one that is malformed or named twice.
    init?(_ request: Request) {
        guard let parent = request.headers[single: "traceparent"] else { return nil }
        self.init(traceparent: parent, tracestate: request.headers[all: "tracestate"].joined(separator: ","))
    }
}

internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SQLiteStore
internal import SocketServer
internal import SyncEngine

/// `POST /v1/_batch`: many writes in one request.
extension Handlers {
    /// All operations are done in one transaction, and with an `Idempotency-Key` once, as a single write is.
    ///
    /// A caller that waits gets 202 if any operation is not confirmed.
    func batch(_ request: Request) async throws -> Response {
        var mistakes = mistakes
        let wait: PushWait? = mistakes.collect(nil, try PushWait(request))
        let body = try mistakes.object(request)
        let batch: BatchRequest? = mistakes.collect(nil, try BatchRequest(body, schema))
        guard let batch else { throw mistakes.problem }
        let place = try wait.map { _ in try placeToWait(request) }
        defer { withExtendedLifetime(place) {} }
        let isMinimal = Preference(request).isMinimal
        let run = BatchRun(
            batch: batch, handlers: self, isTracked: wait != nil, isMinimal: isMinimal,
            throwsRefusals: batch.isAtomic || !mistakes.isEmpty)
        var results = try await once(request, mistakes) { try run.run($0) }
        engine.noteLocalWrite()
        if let wait {
            results.dropRecords()
            results.all = try await pushed(results.all, isMinimal, within: wait.limit)
        }
        let status = results.all.contains { $0.status == 202 } ? 202 : 200
        var response = results.noting(.json(status, results.bytes))
        let applied = [wait?.preference, isMinimal ? "return=minimal" : nil].compactMap(\.self)
        if !applied.isEmpty { response.headers.append(("Preference-Applied", applied.joined(separator: ", "))) }
        return response
    }

    // MARK: Waiting

    /// Each waits with what it keeps of up to a thousand operations.
    private func placeToWait(_ request: Request) throws(Problem) -> PlaceLimit.Place {
        guard let place = places.waitingBatches.take(for: request) else {
            throw .unavailable(
                "too many batches wait for the upstream; nothing was done: wait until one has ended, or send it without waiting"
            )
        }
        return place
    }

    /// The results once no write is pending any more, or the time is over.
    private func pushed(
        _ results: [BatchResult], _ isMinimal: Bool, within limit: Duration
    ) async throws -> [BatchResult] {
        let progress = try await within(limit) {
            var progress: [Result<PushProgress, CacheError>?] = []
            for result in results { progress.append(try await outcome(of: result)) }
            return progress
        }
        var shown = 0
        return try zip(results, progress).map { result, progress in
            guard case .written(let write) = result, let progress else { return result }
            let pushed = try self.pushed(write, progress, isMinimal)
            guard case .written(var written) = pushed else { return pushed }
            written.fit(after: &shown)
            return .written(written)
        }
    }

    /// Nil for an operation that was refused.
    private func outcome(of result: BatchResult) async throws -> Result<PushProgress, CacheError>? {
        guard case .written(let write) = result, let queued = write.queued else { return nil }
        do {
            return .success(try await outcome(of: queued))
        } catch let error as CacheError {
            guard case .gone = error else { throw error }
            return .failure(error)
        }
    }

    /// What became of the write. `isMinimal`: only a write that is not confirmed shows its record.
    private func pushed(
        _ write: BatchWrite, _ progress: Result<PushProgress, CacheError>, _ isMinimal: Bool
    ) throws -> BatchResult {
        guard let queued = write.queued, let entity = schema[write.entity] else { return .written(write) }
        guard case .success(let progress) = progress else {
            return .refused(Problem(.gone, "the outcome of this write is no longer kept; read the record"))
        }
        if progress == .confirmed, queued.operation == .delete { return .written(write) }
        var write = write
        let shown = try store.shown(entity.name, key: queued.key)
        let record = try shown.map { try JSONText($0.bytes) }
        write.key = record?[entity.key]?.plain ?? queued.key
        if let shown, !isMinimal { write.show(shown) }
        if progress != .confirmed {
            write.status = 202
            write.record = Array(try unconfirmed(record, entity, queued, progress).bytes)
        } else if shown == nil {
            return .refused(
                .notFound("the upstream took the change, and \(entity.name)/\(queued.key) has been deleted since"))
        }
        return .written(write)
    }
}

extension BatchResult {
    static func refused(_ problem: Problem) -> BatchResult {
        .refused(problem.status, Array(problem.document().bytes))
    }
}

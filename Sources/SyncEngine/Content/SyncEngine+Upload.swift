internal import CacheStore
internal import EntitySchema
internal import Logging
internal import SQLiteStore
internal import Upstream

/// Sending the contents of records, beside their fields, so that a large picture holds nothing up.
extension SyncEngine {
    /// Uploads at once, besides the requests that `settings.parallel` allows.
    static let uploads = 2

    nonisolated var takesUploads: Bool {
        contents != nil && schema.entities.contains { $0.content?.upload != nil || $0.content?.delete != nil }
    }

    /// One of those that run side by side; each sends one content at a time.
    func uploadLoop(_ rest: WakeableSleep) async throws {
        while !Task.isCancelled {
            if canCall { try await uploadOnce() }
            await rest.rest(for: uploadWait())
        }
        throw CancellationError()
    }

    /// Until the next waiting upload is due; nil until somebody calls.
    private func uploadWait() -> Duration? {
        let time = monotonicNow()
        guard canCall else { return health.hold(at: time)?.since(time) }
        if unwritten.lanes.contains(.content) { return UnwrittenOutcomes.wait }
        do {
            return try store.nextAttempt(in: .content).map { max($0.since(time), .seconds(1)) }
        } catch {
            return UnwrittenOutcomes.wait
        }
    }

    private func uploadOnce() async throws {
        do {
            try await writeOutcomes()
            if try !store.readyChanges(limit: 1, at: monotonicNow(), in: .content).isEmpty {
                try await requireAccount(watched)
                try await pusher(watched, .content).drain(through: uploadGate)
            }
            unwritten.lanes.remove(.content)
        } catch UpstreamError.cancelled {
            throw CancellationError()
        } catch is UpstreamError {
            // What concerns the whole upstream is known by now; the changes keep.
        } catch let error as CacheError {
            await noteUnwritten(error, in: .content)
        }
    }

    private nonisolated var uploadGate: PushAdmission {
        PushAdmission(
            slots: { await self.canCall ? 1 : 0 }, allowance: { await self.budget.isExhausted ? .untried : .all },
            newest: { .max }, mayBegin: { _ in true }, breaksOff: { await self.noteBrokenOff($0) })
    }

    nonisolated func callUploads() async {
        for rest in uploadSleeps { await rest.call() }
    }
}

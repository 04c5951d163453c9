internal import CacheStore
internal import EntitySchema
internal import Logging
internal import SQLiteStore

/// Attempts whose outcome the database did not take: its disk is full, or failing.
///
/// Such a change stays `uploading`, which nobody sends. As soon as the database takes writes again it is queued once more,
/// under its idempotency key, as at a start after a crash.
struct UnwrittenOutcomes {
    /// From one try to the next.
    static let wait = Duration.seconds(1)

    /// The changes, by the number that the queue gave them.
    var changes: Set<Int64> = []
    /// Who found the database failing and has not got through since.
    var lanes: Set<PushLane> = []
}

extension SyncEngine {
    func noteBrokenOff(_ change: OutboxChange) {
        unwritten.changes.insert(change.id)
    }

    /// Makes the lane try again soon; logs only the first of a row of failures.
    func noteUnwritten(_ error: CacheError, in lane: PushLane) async {
        guard unwritten.lanes.insert(lane).inserted else { return }
        log.error("the queue could not be read or written; that is tried again", metadata: ["error": "\(error)"])
        // The pull loop pushes, too, and the lane's own may rest for good.
        switch lane {
        case .fields: await pushSleep.call()
        case .content: await callUploads()
        }
    }

    /// What the process before this one left; tried until the database takes it.
    func recoverInterrupted() async throws -> Int {
        while true {
            do {
                return try await store.recoverInterrupted(at: monotonicNow(), longest: settings.retry.longest)
            } catch let error as CacheError {
                await noteUnwritten(error, in: .fields)
            }
            try await clock.sleep(for: UnwrittenOutcomes.wait)
        }
    }

    /// Throws `CacheError` where it still cannot be done.
    func writeOutcomes() async throws {
        let changes = unwritten.changes
        guard !changes.isEmpty else { return }
        unwritten.changes = []
        do {
            _ = try await store.recoverUnsettled(changes, at: now())
        } catch {
            unwritten.changes.formUnion(changes)
            throw error
        }
    }
}

internal import CacheStore
internal import EntitySchema
internal import Logging
internal import SQLiteStore
internal import Upstream

/// Tracks attempts whose outcome the database could not store, because its disk is full or failing.
///
/// Such a change stays `uploading`, and nothing sends it. As soon as the database accepts writes, it is queued again
/// under its idempotency key, as after a crash. Runs on the engine's executor: see `EngineIsolation`.
actor UnwrittenOutcomes {
    /// Between two tries.
    static let wait = Duration.seconds(1)

    private nonisolated let environment: SyncEnvironment
    /// The queue's numbers of the changes.
    private var changes: Set<Int64> = []
    /// The lanes that found the database failing and have not succeeded since.
    private var lanes: Set<PushLane> = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { environment.isolation.unownedExecutor }

    init(_ environment: SyncEnvironment) {
        self.environment = environment
    }

    func add(_ change: OutboxChange) { changes.insert(change.id) }

    func isFailing(_ lane: PushLane) -> Bool { lanes.contains(lane) }

    func noteSuccess(of lane: PushLane) { lanes.remove(lane) }

    /// Makes the lane try again soon; logs only the first of consecutive failures.
    func noteFailure(_ error: CacheError, of lane: PushLane) async {
        guard lanes.insert(lane).inserted else { return }
        environment.log.error(
            "the queue could not be read or written; retrying", metadata: ["error": "\(error)"])
        // The pull loop pushes too, and the lane's own loop may sleep until it is woken.
        switch lane {
        case .fields: await environment.sleeps.push.wake()
        case .content: await environment.sleeps.wakeUploads()
        }
    }

    /// Queues the tracked changes again, then lets `body` send what is ready in the lane. Notes whether the database
    /// works.
    ///
    /// A failure that concerns the whole upstream only ends the turn: the health monitor knows it, and the changes stay
    /// queued.
    nonisolated(nonsending) func send(in lane: PushLane, _ body: () async throws -> Void) async throws {
        do {
            try await write()
            try await body()
            await noteSuccess(of: lane)
        } catch UpstreamError.cancelled {
            throw CancellationError()
        } catch is UpstreamError {
            // See above.
        } catch let error as CacheError {
            await noteFailure(error, of: lane)
        }
    }

    /// Queues the changes again that the previous process was sending; retries until the database accepts that.
    func recoverInterrupted() async throws -> Int {
        while true {
            do {
                return try await environment.store.recoverInterrupted(
                    at: environment.monotonicNow(), longest: environment.settings.retry.longest)
            } catch let error as CacheError {
                await noteFailure(error, of: .fields)
            }
            try await environment.clock.sleep(for: Self.wait)
        }
    }

    /// Queues the tracked changes again. Throws `CacheError` if the database still fails.
    func write() async throws {
        let changes = changes
        guard !changes.isEmpty else { return }
        self.changes = []
        do {
            _ = try await environment.store.recoverUnfinished(changes, at: environment.now())
        } catch {
            self.changes.formUnion(changes)
            throw error
        }
    }
}

package import CacheStore
package import EntitySchema
package import Logging
internal import SQLiteStore

/// Keeps the history of what the daemon does: one small write at the end of a minute, and none for a minute in which
/// nothing happened and nothing changed.
package struct ActivityKeeper: Sendable {
    private let store: CacheStore
    private let meter: ActivityMeter
    private let now: @Sendable () -> Timestamp
    private let clock: any Clock<Duration>
    private let log: Logger

    package init(
        store: CacheStore, meter: ActivityMeter, now: @escaping @Sendable () -> Timestamp, clock: any Clock<Duration>,
        log: Logger
    ) {
        self.store = store
        self.meter = meter
        self.now = now
        self.clock = clock
        self.log = log
    }

    /// What is not written yet, and what was written last.
    private struct State {
        var work = ActivityWork()
        var written: PendingCount?
    }

    /// Runs until the task is cancelled; then writes what has happened since the last minute.
    package func run() async throws {
        var state = State()
        // Marks the time before, in which no daemon ran.
        await keep(now().minute, &state)
        while !Task.isCancelled {
            // Of the minute in which it began, also if the clock is set meanwhile.
            let start = now()
            try? await clock.sleep(for: Timestamp(minute: start.minute + 1).since(start))
            await keep(start.minute, &state)
        }
        throw CancellationError()
    }

    private func keep(_ minute: Int64, _ state: inout State) async {
        state.work += meter.take()
        do {
            let count = try store.pendingCount()
            // The end of the daemon too, since what comes after it is not known.
            guard count != state.written || state.work != ActivityWork() || Task.isCancelled else { return }
            let minute = ActivityMinute(
                number: minute, pending: count.pending, failed: count.failed, isStart: state.written == nil,
                work: state.work)
            try await store.note(minute, at: now())
            state = State(written: count)
        } catch {
            // What was counted is added to the next minute.
            log.warning("the history of the activity was not written", metadata: ["error": "\(error)"])
        }
    }
}

package import CacheStore
package import EntitySchema
package import Logging
internal import SQLiteStore

/// Watches the time for reminders: marks them as due when it comes, and has them delivered where somebody is to be told.
///
/// Sleeps until the next one, or until something is committed; and since the time of day may be set meanwhile, never long
/// while one waits. A delivery is written down before it begins and after it has ended, so it happens at least once: after a
/// crash in between it happens again, under the same id, and in any other case once.
package struct ReminderKeeper: Sendable {
    /// Tells somebody; throws when that did not succeed.
    package typealias Delivery = @Sendable (Reminder) async throws -> Void

    private let store: CacheStore
    private let deliver: Delivery?
    private let now: @Sendable () -> Timestamp
    private let clock: any Clock<Duration>
    private let log: Logger
    private let sleep: WakeableSleep

    /// After so many failures a reminder is left at `due`.
    package static let mostAttempts = 5
    /// What fell due longer ago, such as what a first pull brings, is shown as due, but nobody is told.
    package static let longestDelay = Duration.seconds(7 * 86_400)
    /// The wait after the first failure; doubles with each one.
    private static let retryBase = Duration.seconds(10)

    /// So long after the time of day was set, or the machine slept, a reminder is late at most.
    private static let longestRest = Duration.seconds(60)

    /// Without `deliver` reminders are only shown and logged.
    package init(
        store: CacheStore, deliver: Delivery?, now: @escaping @Sendable () -> Timestamp, clock: any Clock<Duration>,
        log: Logger
    ) {
        self.store = store
        self.deliver = deliver
        self.now = now
        self.clock = clock
        self.log = log
        sleep = WakeableSleep(clock: clock)
    }

    /// Runs until the task is cancelled.
    package func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await followCommits() }
            group.addTask { try await keep() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func followCommits() async {
        while !Task.isCancelled, !store.signal.isClosed {
            let commits = store.signal.commits
            await sleep.wake()
            await store.signal.wait(after: commits)
        }
    }

    private func keep() async throws {
        var isResumed = false
        while !Task.isCancelled {
            do {
                if !isResumed { try await store.resumeDeliveries(at: now()) }
                isResumed = true
                try await keepOnce()
                await sleep.sleep(for: try store.nextReminder().map(wait))
            } catch let error as CacheError {
                log.error("reminders could not be kept; that is tried again", metadata: ["error": "\(error)"])
                await sleep.sleep(for: Self.retryBase)
            }
        }
        throw CancellationError()
    }

    private func wait(until next: Timestamp) -> Duration { min(max(next.since(now()), .zero), Self.longestRest) }

    /// Does what there is to do now.
    func keepOnce() async throws {
        guard let next = try store.nextReminder(), next <= now() else { return }
        let oldest = deliver == nil ? nil : now() - Self.longestDelay
        while try await store.keepReminders(deliveringAfter: oldest, at: now()) {}
        guard let deliver else { return }
        for id in try store.dueDeliveries(at: now(), limit: 100) {
            try Task.checkCancellation()
            try await attempt(id, deliver)
        }
    }

    private func attempt(_ id: Int64, _ deliver: Delivery) async throws {
        // Counts from one that is yet to be begun, so the first retry waits for the base.
        let attempts = try store.reminder(id).attempts
        let retryAt = now() + Self.retryBase * (1 << min(attempts, Self.mostAttempts))
        guard let reminder = try await store.beginDelivery(id, retryAt: retryAt) else { return }
        let outcome: ReminderOutcome
        do {
            try await deliver(reminder)
            outcome = .delivered
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            let isLast = reminder.attempts >= Self.mostAttempts
            log.warning(
                isLast
                    ? "a reminder was not delivered; it stays due"
                    : "a reminder was not delivered; that is tried again",
                metadata: ["id": "\(id)", "attempt": "\(reminder.attempts)", "error": "\(error)"])
            outcome = .failed("\(error)", retryAt: isLast ? nil : retryAt)
        }
        try await store.settleDelivery(of: reminder, outcome, at: now())
    }
}

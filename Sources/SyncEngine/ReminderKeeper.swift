package import CacheStore
package import EntitySchema
package import Logging
internal import SQLiteStore

/// Marks reminders as due when their time comes, and delivers them if a delivery is configured.
///
/// Sleeps until the next reminder or the next commit, but never long while a reminder waits, since the clock may be set
/// meanwhile. A delivery is recorded before it begins and after it ends. It happens once, or again under the same id
/// after a crash in between.
package struct ReminderKeeper: Sendable {
    /// Delivers a reminder; throws when that failed.
    package typealias Delivery = @Sendable (Reminder) async throws -> Void

    private let store: CacheStore
    private let deliver: Delivery?
    private let now: @Sendable () -> Timestamp
    private let clock: any Clock<Duration>
    private let log: Logger
    private let sleep: WakeableSleep

    /// After this many failures a reminder stays `due`.
    package static let mostAttempts = 5
    /// A reminder that fell due longer ago, as in a first pull, is shown as due but not delivered.
    package static let longestDelay = Duration.seconds(7 * 86_400)
    /// The wait after the first failure; doubles with each one.
    private static let retryBase = Duration.seconds(10)

    /// How late a reminder can be after the clock was set or the machine slept.
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
                log.error("reminders could not be processed; retrying", metadata: ["error": "\(error)"])
                await sleep.sleep(for: Self.retryBase)
            }
        }
        throw CancellationError()
    }

    private func wait(until next: Timestamp) -> Duration { min(max(next.since(now()), .zero), Self.longestRest) }

    /// Marks and delivers the reminders that are due now.
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
        // This attempt has not been counted yet, so the first retry waits for the base.
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
                    : "a reminder was not delivered; retrying",
                metadata: ["id": "\(id)", "attempt": "\(reminder.attempts)", "error": "\(error)"])
            outcome = .failed("\(error)", retryAt: isLast ? nil : retryAt)
        }
        try await store.settleDelivery(of: reminder, outcome, at: now())
    }
}

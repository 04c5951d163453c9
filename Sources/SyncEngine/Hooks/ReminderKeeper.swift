package import CacheStore
package import EntitySchema
package import Logging
internal import SQLiteStore

/// Marks reminders as due when their time comes. Where reminders are delivered, their hook gets an event.
///
/// Sleeps until the next reminder or the next commit, but never long while a reminder waits, since the clock may be set
/// meanwhile.
package struct ReminderKeeper: Sendable {
    private let store: CacheStore
    private let delivers: Bool
    /// Another daemon has delivered what was due before; nil if none has.
    private let deliveredBefore: Timestamp?
    private let isCaughtUp: @Sendable () async -> Bool
    private let now: @Sendable () -> Timestamp
    private let log: Logger
    private let sleep: WakeableSleep

    /// A reminder that fell due longer ago, as in a first pull, is shown as due but not delivered.
    static let longestDelay = Duration.seconds(7 * 86_400)
    private static let retry = Duration.seconds(10)

    /// How late a reminder can be after the clock was set or the machine slept.
    private static let longestRest = Duration.seconds(60)

    /// Without `delivers`, for which the store needs the hook `HookRule.reminders`, reminders are only shown and logged.
    /// `deliveredBefore`: what was due then was delivered by another daemon. That counts until `isCaughtUp`: what comes
    /// later is new, even where its time has passed.
    package init(
        store: CacheStore, delivers: Bool, deliveredBefore: Timestamp?,
        isCaughtUp: @escaping @Sendable () async -> Bool, now: @escaping @Sendable () -> Timestamp,
        clock: any Clock<Duration>, log: Logger
    ) {
        self.store = store
        self.delivers = delivers
        self.deliveredBefore = deliveredBefore
        self.isCaughtUp = isCaughtUp
        self.now = now
        self.log = log
        sleep = WakeableSleep(clock: clock)
    }

    /// Runs until the task is cancelled.
    package func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await store.signal.follow { await sleep.wake() } }
            group.addTask { try await keep() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func keep() async throws {
        var handedOver = deliveredBefore
        while !Task.isCancelled {
            do {
                // Asked before the reminders are read, so that all that was pulled by then is among them.
                let isNew = if handedOver == nil { true } else { await isCaughtUp() }
                try await keepOnce(handedOver: handedOver)
                if isNew { handedOver = nil }
                await sleep.sleep(for: try store.nextReminder().map(wait))
            } catch let error as CacheError {
                log.error("reminders could not be processed; retrying", metadata: ["error": "\(error)"])
                await sleep.sleep(for: Self.retry)
            }
        }
        throw CancellationError()
    }

    private func wait(until next: Timestamp) -> Duration { min(max(next.since(now()), .zero), Self.longestRest) }

    /// Marks the reminders that are due now. Those before `handedOver` were delivered by another daemon.
    func keepOnce(handedOver: Timestamp? = nil) async throws {
        guard let next = try store.nextReminder(), next <= now() else { return }
        let oldest = delivers ? now() - Self.longestDelay : nil
        while try await store.keepReminders(deliveringAfter: oldest, handedOver: handedOver, at: now()) {}
    }
}

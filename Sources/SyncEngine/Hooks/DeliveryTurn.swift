package import CacheStore
package import EntitySchema
package import Logging
package import SQLiteStore

/// Runs hooks and reminders only while it is this daemon's turn, for daemons that share an account: a turn begins where the
/// former daemon ended.
package struct DeliveryTurn: Sendable {
    /// Where the marks are that all daemons of the account see.
    package struct Shared: Sendable {
        var load: @Sendable () async throws -> DeliveryMarks
        var save: @Sendable (DeliveryMarks) async throws -> Void

        package init(
            load: @escaping @Sendable () async throws -> DeliveryMarks,
            save: @escaping @Sendable (DeliveryMarks) async throws -> Void
        ) {
            self.load = load
            self.save = save
        }
    }

    private let store: CacheStore
    private let schema: EntitySchema
    private let shared: Shared
    private let isOwn: @Sendable () -> Bool
    private let changed: ChangeSignal
    private let pulled: @Sendable () async -> [String: Timestamp]
    private let deliversReminders: Bool
    private let now: @Sendable () -> Timestamp
    private let clock: any Clock<Duration>
    private let log: Logger

    /// Between two looks at how far this daemon is, and between two attempts.
    private static let interval = Duration.seconds(10)
    private static let retry = Duration.seconds(1)
    private static let day = Duration.seconds(86_400)
    /// The clocks of two machines may differ by that much.
    private static let skew = Duration.seconds(60)

    /// `changed` announces that `isOwn` may have changed. `pulled` says when each entity was last pulled.
    package init(
        _ store: CacheStore, _ schema: EntitySchema, shared: Shared, isOwn: @escaping @Sendable () -> Bool,
        changed: ChangeSignal, pulled: @escaping @Sendable () async -> [String: Timestamp], deliversReminders: Bool,
        now: @escaping @Sendable () -> Timestamp, clock: any Clock<Duration>, log: Logger
    ) {
        self.store = store
        self.schema = schema
        self.shared = shared
        self.isOwn = isOwn
        self.changed = changed
        self.pulled = pulled
        self.deliversReminders = deliversReminders
        self.now = now
        self.clock = clock
        self.log = log
    }

    /// Runs until the task is cancelled, or `deliver` throws. `deliver` runs hooks and reminders, of those only what was not
    /// due before the given time; it is cancelled when the turn ends.
    package func run(_ deliver: @escaping @Sendable (_ before: Timestamp?) async throws -> Void) async throws {
        while !Task.isCancelled {
            let number = changed.commits
            if isOwn() {
                try await turn(deliver)
            } else if changed.isClosed {
                try await clock.sleep(for: Self.day)
            } else {
                await changed.wait(after: number)
            }
        }
        throw CancellationError()
    }

    private func turn(_ deliver: @escaping @Sendable (_ before: Timestamp?) async throws -> Void) async throws {
        guard let former = await takenUp() else { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await deliver(former.reminders.map { $0 - Self.skew }) }
            group.addTask { await untilEnd() }
            group.addTask { await keepSaving(former) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// The marks of the former daemon, after the hooks have skipped what it has delivered; nil if the turn has ended.
    private func takenUp() async -> DeliveryMarks? {
        var isFirst = true
        while isOwn(), !Task.isCancelled {
            do {
                let marks = try await shared.load()
                try await store.skipHooks(marks.hooks.mapValues { $0 - Self.skew })
                return marks
            } catch {
                if isFirst {
                    log.warning(
                        "how far the former holder was with hooks and reminders could not be read; trying again",
                        metadata: ["error": "\(error)"])
                }
                isFirst = false
            }
            try? await clock.sleep(for: Self.retry)
        }
        return nil
    }

    private func untilEnd() async {
        while !Task.isCancelled {
            let number = changed.commits
            guard isOwn() else { return }
            guard !changed.isClosed else {
                try? await clock.sleep(for: Self.retry)
                continue
            }
            await changed.wait(after: number)
        }
    }

    /// Ends only with the turn. What could not be saved is delivered again by the next daemon.
    private func keepSaving(_ former: DeliveryMarks) async {
        var progress = DeliveryProgress(after: former, schema: schema, deliversReminders: deliversReminders)
        var saved = former
        while !Task.isCancelled {
            let times = await pulled()
            do {
                try progress.update(store, pulled: times, at: now())
                if progress.marks != saved {
                    try await shared.save(progress.marks)
                    saved = progress.marks
                }
            } catch {
                log.debug("how far hooks and reminders are could not be stored", metadata: ["error": "\(error)"])
            }
            try? await clock.sleep(for: Self.interval)
        }
    }
}

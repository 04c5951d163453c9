package import CacheStore
package import EntitySchema
package import Logging
package import SQLiteStore

/// Tells hooks of what happens: a loop for each hook reads the change log from where the hook is.
///
/// A hook that hangs or fails delays only itself.
package struct HookKeeper: Sendable {
    /// Whether the upstream can be reached, and what announces that this may have changed.
    package struct Reachability: Sendable {
        /// Nil while that is not known.
        var isReachable: @Sendable () async -> Bool?
        var changed: ChangeSignal

        package init(changed: ChangeSignal, isReachable: @escaping @Sendable () async -> Bool?) {
            self.changed = changed
            self.isReachable = isReachable
        }
    }

    private let store: CacheStore
    private let loops: [HookLoop]
    private let reachability: Reachability?
    private let now: @Sendable () -> Timestamp
    private let clock: any Clock<Duration>
    private let log: Logger

    private static let retry = Duration.seconds(10)
    private static let day = Duration.seconds(86_400)

    /// `hooks` are those that the store was opened with.
    package init(
        store: CacheStore, hooks: [Hook], reachability: Reachability?, now: @escaping @Sendable () -> Timestamp,
        clock: any Clock<Duration>, log: Logger
    ) {
        self.store = store
        self.now = now
        self.clock = clock
        self.log = log
        loops = hooks.map { HookLoop(hook: $0, store: store, now: now, clock: clock, log: log) }
        let isNeeded = hooks.contains { $0.rule.events.contains(where: \.isOfUpstream) }
        self.reachability = isNeeded ? reachability : nil
    }

    /// Runs until the task is cancelled. The hooks have been started (`CacheStore.startHooks`).
    package func run() async throws {
        while loops.isEmpty { try await clock.sleep(for: Self.day) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await store.signal.follow { for loop in loops { await loop.wake() } } }
            if let reachability { group.addTask { try await follow(reachability) } }
            for loop in loops { group.addTask { try await loop.run() } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Delivers until every hook has nothing to do, or waits.
    func keepOnce() async throws {
        for loop in loops {
            while try await loop.step() == nil { try Task.checkCancellation() }
            try await loop.storeDelivered()
        }
    }

    private func follow(_ reachability: Reachability) async throws {
        while !Task.isCancelled {
            let number = reachability.changed.commits
            if let isReachable = await reachability.isReachable() {
                do {
                    try await store.noteReachable(isReachable, at: now())
                } catch let error as CacheError {
                    log.error(
                        "an outage of the upstream, or its end, could not be queued for hooks; retrying",
                        metadata: ["error": "\(error)"])
                    try await clock.sleep(for: Self.retry)
                    continue
                }
            }
            guard !reachability.changed.isClosed else { return try await clock.sleep(for: Self.day) }
            await reachability.changed.wait(after: number)
        }
    }
}

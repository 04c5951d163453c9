internal import CacheStore
internal import EntitySchema
internal import Logging
internal import SQLiteStore

/// Delivers the events of one hook, one after the other, in the order of the change log.
///
/// While deliveries are faster than the disk, one commit stores several outcomes. What was delivered and is not stored yet
/// is delivered again after a crash, under the same key.
actor HookLoop {
    let hook: Hook
    private let store: CacheStore
    private let now: @Sendable () -> Timestamp
    private let log: Logger
    private let sleep: WakeableSleep
    /// There is nothing to deliver up to this number.
    private var seen: Int64 = 0
    /// When that was last stored.
    private var storedAt: Timestamp?
    /// What was delivered and is not stored yet.
    private var delivered: [HookOccurrence] = []
    private var storing: Task<Void, any Error>?

    /// The wait after the first failure; doubles with each one.
    private static let firstRetry = Duration.seconds(2)
    private static let longestRetry = Duration.seconds(300)
    /// How late a retry can be after the clock was set.
    private static let longestRest = Duration.seconds(60)
    /// With this many parked deliveries a hook parks no more: it tries the next until a person looks at them.
    static let mostParked = 1000
    /// What a hook had nothing of is stored after this many numbers or this long, so that the log can be pruned.
    private static let unstored: Int64 = 1000
    private static let storeEvery = Duration.seconds(3600)
    private static let longestReason = 2000
    /// The most deliveries that a crash makes happen again.
    private static let mostUnstored = 64

    init(
        hook: Hook, store: CacheStore, now: @escaping @Sendable () -> Timestamp, clock: any Clock<Duration>, log: Logger
    ) {
        self.hook = hook
        self.store = store
        self.now = now
        self.log = log
        sleep = WakeableSleep(clock: clock)
    }

    private var name: String { hook.rule.name }

    nonisolated func wake() async { await sleep.wake() }

    /// Runs until the task is cancelled.
    func run() async throws {
        while !Task.isCancelled {
            do {
                guard let wait = try await step() else { continue }
                await sleep.sleep(for: wait)
            } catch let error as CacheError {
                log.error("a hook could not go on; retrying", metadata: ["hook": "\(name)", "error": "\(error)"])
                await sleep.sleep(for: Self.firstRetry)
            } catch is CancellationError {
                break
            }
        }
        try? await storeDelivered()
        throw CancellationError()
    }

    /// Delivers what is next; returns how long there is nothing to do, nil when there may be more now.
    func step() async throws -> Duration? {
        guard let state = try store.hookState(name), !state.isPaused else { return Self.longestRest }
        if let parked = try store.parkedToRetry(name) {
            try await retry(parked)
            return nil
        }
        if try await forgetFailures(state) { return nil }
        if let wait = wait(for: state) { return wait }
        let scan = try store.nextOccurrence(for: hook.rule, after: max(state.position, seen), at: now())
        guard let occurrence = scan.occurrence else {
            seen = scan.position
            try await storeDelivered()
            try await storeSeen(state)
            return scan.hasMore ? nil : Self.longestRest
        }
        try await attempt(occurrence, state)
        return nil
    }

    /// Forgets the failures of a reminder that was dismissed, snoozed or moved meanwhile; false if there are none.
    private func forgetFailures(_ state: HookState) async throws -> Bool {
        guard hook.rule.isOfReminders, state.attempts > 0 else { return false }
        let scan = try store.nextOccurrence(for: hook.rule, after: state.position, at: now())
        guard let next = scan.occurrence else {
            try await store.moveHook(name, to: scan.position)
            return true
        }
        guard let reminder = try store.reminder(of: next), reminder.attempts == 0 else { return false }
        try await store.moveHook(name, to: next.seq - 1)
        return true
    }

    /// Nil when the next attempt is due, also after the clock was set back.
    private func wait(for state: HookState) -> Duration? {
        guard let next = state.nextAt else { return nil }
        let wait = next.since(now())
        guard wait > .zero, wait <= Self.longestRetry else { return nil }
        return min(wait, Self.longestRest)
    }

    private func storeSeen(_ state: HookState) async throws {
        guard seen > state.position else { return }
        let last = storedAt ?? now()
        storedAt = last
        guard seen - state.position >= Self.unstored || now().since(last) >= Self.storeEvery else { return }
        try await store.moveHook(name, to: seen)
        storedAt = now()
    }

    // MARK: Storing outcomes

    /// Returns when everything that was delivered is stored.
    func storeDelivered() async throws {
        while !delivered.isEmpty || storing != nil {
            let task = storing ?? Task { try await self.storeAll() }
            storing = task
            try await task.value
        }
    }

    private func storeAll() async throws {
        defer { storing = nil }
        while let last = delivered.last {
            let earlier = Array(delivered.dropLast())
            delivered = []
            do {
                try await store.finishHook(name, last, .delivered(earlier: earlier), at: now())
            } catch {
                delivered = earlier + [last] + delivered
                throw error
            }
        }
    }

    // MARK: Attempts

    private func attempt(_ occurrence: HookOccurrence, _ state: HookState) async throws {
        let number = state.attempts + 1
        guard let problem = try await problem(delivering: occurrence, attempt: number) else {
            seen = occurrence.seq
            delivered.append(occurrence)
            if storing == nil { storing = Task { try await self.storeAll() } }
            // Otherwise the next delivery would count the failed attempts of this one.
            if state.attempts > 0 || delivered.count >= Self.mostUnstored { try await storeDelivered() }
            return
        }
        // Before the failure, which concerns what comes after it.
        try await storeDelivered()
        let isLast = number >= hook.attempts && state.parked < Self.mostParked
        log.warning(
            isLast ? "a hook's delivery failed and is parked" : "a hook's delivery failed; retrying",
            metadata: [
                "hook": "\(name)", "seq": "\(occurrence.seq)", "attempt": "\(number)", "error": "\(problem)",
            ])
        let retry = Self.firstRetry.doubled(number - 1, atMost: Self.longestRetry)
        let outcome: HookOutcome = isLast ? .parked(problem) : .failed(problem, retryAt: now() + retry)
        try await store.finishHook(name, occurrence, outcome, at: now())
    }

    private func retry(_ parked: ParkedDelivery) async throws {
        let problem = try await problem(delivering: parked.occurrence, attempt: parked.attempts + 1)
        if let problem {
            log.warning(
                "a parked delivery failed again",
                metadata: ["hook": "\(name)", "seq": "\(parked.occurrence.seq)", "error": "\(problem)"])
        }
        try await store.finishParked(name, parked, problem: problem, at: now())
    }

    /// Why the delivery failed; nil if it succeeded.
    private func problem(delivering occurrence: HookOccurrence, attempt: Int) async throws -> String? {
        let reminder = try store.reminder(of: occurrence)
        // It was dismissed, snoozed or moved meanwhile.
        if hook.rule.isOfReminders, reminder == nil { return nil }
        let delivery = HookDelivery(
            hook: name, key: store.deliveryKey(name, occurrence), occurrence: occurrence, attempt: attempt,
            record: try store.record(of: occurrence), reminder: reminder)
        do {
            try await hook.deliver(delivery)
            return nil
        } catch {
            try Task.checkCancellation()
            return String("\(error)".prefix(Self.longestReason))
        }
    }
}

package import EntitySchema

/// When a machine calls the upstream by itself, spread so that many machines do not call in step.
///
/// Everything that decides this is here, and nothing of it waits or does I/O: the engine asks, and so does the
/// simulation of a fleet. What a person asks for, and a local write while the upstream can be reached, is never delayed.
package struct SyncSchedule: Sendable {
    package let settings: SyncSettings
    /// Yields numbers in 0..<1.
    private let random: @Sendable () -> Double

    /// What is shorter leaves so little behind that everything may follow at once.
    private static let shortOutage = Duration.seconds(20)
    private static let shortestProbeWait = Duration.milliseconds(50)

    package init(settings: SyncSettings, random: @escaping @Sendable () -> Double) {
        self.settings = settings
        self.random = random
    }

    // MARK: Starts

    /// This machine's turn after a start: up to a tenth of the interval, always the same.
    var startTurn: Duration { settings.place.map { settings.interval / 10 * $0 } ?? .zero }

    /// From a start to its first sync.
    ///
    /// An empty cache is filled at once. Otherwise a restart does not move the next sync, unless that is overdue or the
    /// schema has changed: then it comes at this machine's turn. `lastSyncedAt` is that of the entity that was pulled
    /// longest ago.
    package func firstSync(lastSyncedAt: Timestamp?, isSameSchema: Bool, at now: Timestamp) -> Duration {
        guard settings.place != nil, let last = lastSyncedAt else { return .zero }
        guard isSameSchema, last <= now else { return startTurn }
        return max((last + usualWait).since(now), startTurn)
    }

    // MARK: Syncs

    /// The interval, give or take a tenth.
    private var usualWait: Duration { settings.interval * (0.9 + 0.2 * random()) }

    /// From the end of a sync to the next: the interval, give or take; after a failed one, as soon as a change would be
    /// retried. `failures` counts the consecutive syncs that failed, with this one.
    package func wait(afterFailures failures: Int) -> Duration {
        let usual = usualWait
        guard failures > 0 else { return usual }
        return min(usual, max(settings.retry.delay(attempt: failures, random: random()), .seconds(1)))
    }

    /// Whether a full pull is due: once every `fullEvery`, at this machine's own time of day.
    ///
    /// After one at another time, the next comes three quarters of `fullEvery` later at the earliest, and within one and
    /// three quarters. One that ended in the future was timed by a wrong clock and does not count.
    package func isFullDue(lastFullAt: Timestamp?, at now: Timestamp) -> Bool {
        guard let last = lastFullAt, last <= now else { return true }
        guard let place = settings.place.map(Self.other) else { return last + settings.fullEvery <= now }
        return turn(of: now, place) > turn(of: last + settings.fullEvery * 3 / 4, place)
    }

    /// Another place of the same machine: those whose full pull falls into one outage must not also start together.
    private static func other(_ place: Double) -> Double { (place * 7919).truncatingRemainder(dividingBy: 1) }

    /// Counts this machine's turns for a full pull up to a time.
    private func turn(of time: Timestamp, _ place: Double) -> Int64 {
        let every = max(settings.fullEvery.milliseconds, 1)
        return (time.milliseconds - Int64(Double(every) * place)).flooredQuotient(every)
    }

    // MARK: Outages

    /// Between two probes: anything from hardly more than zero to twice `usual`. Those after a change of this machine's
    /// network concern no other machine and come as they are.
    package func probeWait(usual: Duration) -> Duration {
        guard settings.place != nil, usual >= .seconds(2) else { return usual }
        return max(usual * jitter, Self.shortestProbeWait)
    }

    /// From the end of an outage to the sync that sends and pulls what it left behind: anything from zero to three times
    /// its length, at most two intervals.
    ///
    /// Three times, because the machines that noticed an outage last know least of how long it was.
    package func catchUpWait(after outage: Duration) -> Duration {
        guard settings.place != nil, outage >= Self.shortOutage else { return .zero }
        return min(outage * 3, settings.interval * 2) * random()
    }

    /// How long the upstream is left alone when it asks for `asked`: longer by up to as much again, at most a tenth of
    /// the interval, since it may have named the same moment to every machine.
    package func holdWait(asked: Duration) -> Duration {
        guard settings.place != nil else { return asked }
        return asked + min(asked, settings.interval / 10) * random()
    }

    /// When a sync is due that was due at `next`, if the upstream wants to be left alone until `end`: at its turn after that.
    package func due(_ next: Timestamp, heldUntil end: Timestamp, at now: Timestamp) -> Timestamp {
        let wait = catchUpWait(after: end.since(now))
        return next <= end && wait > .zero ? end + wait : next
    }

    /// Multiplies the wait for a trial: anything from zero to two, so the average is the wait itself.
    package var jitter: Double { settings.place == nil ? 1 : 2 * random() }

    // MARK: Signals

    /// Between two polls of a list of events: give or take a tenth.
    func pollWait(every usual: Duration) -> Duration {
        settings.place == nil ? usual : usual * (0.9 + 0.2 * random())
    }
}

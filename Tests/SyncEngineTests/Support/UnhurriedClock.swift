import TestSupport

/// The real clock, on which a sleep of seconds or more lasts until its task is cancelled: short pauses pass, and no
/// deadline does, however slow the machine.
struct UnhurriedClock: Clock {
    typealias Instant = ContinuousClock.Instant

    private let real = ContinuousClock()

    var now: Instant { real.now }
    var minimumResolution: Duration { real.minimumResolution }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        guard deadline - now > .seconds(5) else { return try await real.sleep(until: deadline, tolerance: tolerance) }
        await untilCancelled()
        try Task.checkCancellation()
    }
}

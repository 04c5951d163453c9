internal import EntitySchema

/// Notices when the time of day is set, by comparing it with a clock that only runs.
struct ClockWatch {
    private let elapsed: @Sendable () -> Duration
    private var last: (time: Timestamp, elapsed: Duration)

    /// Less than this is a clock being kept right little by little.
    private static let tolerance = Duration.seconds(2)

    init(clock: any Clock<Duration>, now: Timestamp) {
        elapsed = Self.stopwatch(clock)
        last = (now, elapsed())
    }

    /// How far the time of day has jumped since the last look; nil when it has only passed.
    mutating func jump(at now: Timestamp) -> Duration? {
        let passed = elapsed()
        defer { last = (now, passed) }
        let jump = now.since(last.time) - (passed - last.elapsed)
        return jump > Self.tolerance || jump < .zero - Self.tolerance ? jump : nil
    }

    private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}

/// Measures how long something takes, by a clock that nobody sets.
struct Stopwatch: Sendable {
    private let elapsed: @Sendable () -> Duration

    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
    }

    var duration: Duration { elapsed() }
}

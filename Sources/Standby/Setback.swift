/// A daemon acquired the lease and could not take over what the former holder left.
struct Setback: Sendable {
    var reason: String
    /// How often the lease was given up because of it.
    var times = 0
    /// By the monotonic clock. Until then, the lease is left to another daemon.
    private var pauseEnd: Duration?

    init(reason: String, times: Int = 0) {
        self.reason = reason
        self.times = times
    }

    /// Begins a pause and returns its length: as long as a lease lasts, in which the other daemon looks at it three times. It
    /// doubles each time, so that two daemons that both cannot take over do not pass the lease to and fro all the time.
    mutating func giveUp(_ ttl: Duration, at now: Duration) -> Duration {
        let pause = ttl * (1 << min(times, 4))
        times += 1
        pauseEnd = now + pause
        return pause
    }

    func isPause(at now: Duration) -> Bool { pauseEnd.map { $0 > now } ?? false }
}

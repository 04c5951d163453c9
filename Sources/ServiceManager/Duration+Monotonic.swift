internal import Glibc

extension Duration {
    /// The time of the clock that service managers use (CLOCK_MONOTONIC).
    @Sendable package static func ofMonotonicClock() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

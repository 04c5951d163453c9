package import SocketServer
internal import Synchronization

/// A token bucket for each caller: a sustained rate of calls a second, and short bursts.
package final class RateLimit: Sendable {
    /// One machine can have every address of a network of IPv6, so these count as one caller.
    package typealias Key = ConnectionHolder

    private struct Bucket {
        var calls: Double
        var filled: ContinuousClock.Instant
    }

    private let perSecond: Double
    private let burst: Double
    private let now: @Sendable () -> ContinuousClock.Instant
    private let buckets = Mutex<[Key: Bucket]>([:])
    /// The most callers remembered. Beyond it, the counts of others are forgotten.
    private static let capacity = 1024

    package init(perSecond: Int, burst: Int, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.perSecond = Double(perSecond)
        self.burst = Double(burst)
        self.now = now
    }

    /// Counts one call. Returns nil when it is allowed, else the time until the next call is.
    package func take(_ key: Key) -> Duration? {
        let now = now()
        return buckets.withLock { buckets in
            if buckets.count >= Self.capacity, buckets[key] == nil { buckets = buckets.filter { !isFull($1, at: now) } }
            if buckets.count >= Self.capacity, buckets[key] == nil { buckets = [:] }
            var bucket = buckets[key] ?? Bucket(calls: burst, filled: now)
            bucket.calls = calls(in: bucket, at: now)
            bucket.filled = now
            defer { buckets[key] = bucket }
            guard bucket.calls >= 1 else { return .seconds((1 - bucket.calls) / perSecond) }
            bucket.calls -= 1
            return nil
        }
    }

    private func calls(in bucket: Bucket, at now: ContinuousClock.Instant) -> Double {
        min(burst, bucket.calls + (now - bucket.filled) / .seconds(1) * perSecond)
    }

    private func isFull(_ bucket: Bucket, at now: ContinuousClock.Instant) -> Bool {
        calls(in: bucket, at: now) >= burst
    }
}

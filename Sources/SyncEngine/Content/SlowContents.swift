internal import Synchronization

/// Ends contents that come slowly while others wait for their places.
///
/// One of them goes on, so that over a slow link all are fetched, one after the other.
final class SlowContents: Sendable {
    /// The content came slowly, and another one gets its place.
    struct GaveWay: Error {}

    private enum End {
        case whole(type: String?)
        case gaveWay
    }

    /// In seconds: for this long, a content may come as slowly as it likes.
    private static let grace = 10
    /// In bytes a second, on average.
    private static let least = 64 << 10

    private let clock: any Clock<Duration>
    /// Whether a slow one goes on while others wait.
    private let hasOne = Mutex(false)

    init(clock: any Clock<Duration>) { self.clock = clock }

    /// Returns the media type that `download` returns. If the download is slow while others wait and another slow one
    /// is running, cancels it and throws `GaveWay`.
    func type(
        of pace: DownloadPace, isAwaited: @escaping @Sendable () async -> Bool,
        download: @escaping @Sendable () async throws -> String?
    ) async throws -> String? {
        try await withThrowingTaskGroup(of: End.self) { group in
            defer { group.cancelAll() }
            group.addTask { .whole(type: try await download()) }
            group.addTask {
                try await self.watch(pace, isAwaited)
                return .gaveWay
            }
            guard case .whole(let type) = try await group.next() else { throw GaveWay() }
            return type
        }
    }

    /// Returns when the content has to give way; throws when the task is cancelled.
    private func watch(_ pace: DownloadPace, _ isAwaited: @Sendable () async -> Bool) async throws {
        var isTheOne = false
        defer { if isTheOne { hasOne.withLock { $0 = false } } }
        var seconds = Self.grace
        try await clock.sleep(for: .seconds(Self.grace))
        while true {
            if !isTheOne, pace.bytes < seconds * Self.least, await isAwaited() {
                isTheOne = hasOne.withLock { hasOne in
                    defer { hasOne = true }
                    return !hasOne
                }
                guard isTheOne else { return }
            }
            try await clock.sleep(for: .seconds(1))
            seconds += 1
        }
    }
}

internal import EntitySchema
internal import Synchronization
internal import Upstream

/// Whether a content comes fast enough to be awaited.
///
/// Only a few contents are fetched at once. Servers that send a byte now and then, at addresses that records name, must not hold
/// up all others. The time begins with the first bytes: until then, the request has a limit of its own.
final class DownloadPace: Sendable {
    private struct Progress {
        var begun: Timestamp?
        var bytes = 0
    }

    /// In bytes a second, on average: 240 KiB a minute.
    private static let least = 4 << 10
    /// For this long, a content may come as slowly as it likes.
    private static let grace = Duration.seconds(60)

    private let now: @Sendable () -> Timestamp
    private let progress = Mutex(Progress())

    /// `now` must not go back when the clock is set.
    init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    /// How many have come so far.
    var bytes: Int { progress.withLock(\.bytes) }

    /// Notes that `count` more bytes have come. False if they come too slowly.
    func takes(_ count: Int) -> Bool {
        let now = now()
        return progress.withLock { progress in
            let begun = progress.begun ?? now
            progress.begun = begun
            progress.bytes += count
            let counted = Int((now.since(begun) - Self.grace).components.seconds)
            return counted <= 0 || progress.bytes >= counted * Self.least
        }
    }
}

extension BodySink {
    /// Takes a body that must not come too slowly, in pieces that `store` keeps.
    convenience init(_ pace: DownloadPace, store: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void) {
        self.init { bytes in pace.takes(bytes.count) && (try? store(bytes)) != nil }
    }
}

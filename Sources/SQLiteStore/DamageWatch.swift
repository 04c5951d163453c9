internal import GRDB
internal import Synchronization

/// Watches every SQLite error and notifies the waiting caller when one means that the file is damaged.
package final class DamageWatch: Sendable {
    private struct News {
        /// What the last error said that only damage has.
        var damage: String?
        /// Whether there was an error that a mistake in a statement has as well.
        var isSuspected = false
    }

    private let news = Mutex(News())
    private let signal = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    package init() {}

    /// See `CacheError.classified`. What a statement may have caused itself is `.failed`, because the file may be sound.
    package func classified(_ error: any Error) -> any Error {
        let found = CacheError.classified(error)
        guard case CacheError.damaged(let message) = found else { return found }
        let isSuspicion = CacheError.isOfJSON(error)
        news.withLock { news in
            if isSuspicion { news.isSuspected = true } else { news.damage = message }
        }
        signal.continuation.yield()
        guard isSuspicion else { return found }
        return CacheError.failed("\(message); if a check finds no damage, please report this")
    }

    /// Waits for damage: throws `.damaged` as soon as there is some, returns when cancelled. For one caller.
    ///
    /// At the first suspicion it calls `check`, which throws `.damaged` if the file is. After a check that has found nothing
    /// no further suspicion counts: one mistake must not have the daemon read the whole file again and again.
    package func wait(check: () async throws -> Void) async throws {
        var isChecked = false
        for await _ in signal.stream {
            let (damage, isSuspected) = news.withLock { ($0.damage, $0.isSuspected) }
            if let damage { throw CacheError.damaged(damage) }
            guard isSuspected, !isChecked else { continue }
            isChecked = true
            do {
                try await check()
            } catch CacheError.damaged(let message) {
                throw CacheError.damaged(message)
            } catch {
                // It could not be checked. The daily check comes anyway.
            }
        }
    }
}

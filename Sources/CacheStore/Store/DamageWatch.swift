internal import GRDB

/// Hears of every error that SQLite answers, and tells who waits for it when one means that the file is damaged.
struct DamageWatch: Sendable {
    private let reports = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingOldest(1))

    /// See `GroupCommit.sorted`.
    func classified(_ error: any Error) -> any Error {
        let error = GroupCommit.classified(error)
        if case CacheError.damaged(let message) = error { reports.continuation.yield(message) }
        return error
    }

    /// Throws `.damaged` as soon as damage has been met; returns when cancelled. For one who waits.
    func wait() async throws {
        for await message in reports.stream { throw CacheError.damaged(message) }
    }
}

extension CacheStore {
    /// Throws `.damaged` as soon as a read or a write has met damage; returns when cancelled. For one caller.
    package func waitForDamage() async throws { try await damage.wait() }

    /// Releases a damaged file and leaves it, with its log, as it is.
    package func abandon() {
        signal.close()
        let guardian = LogGuardian(path: pool.path)
        readers.close()
        try? pool.close()
        guardian?.close()
    }
}

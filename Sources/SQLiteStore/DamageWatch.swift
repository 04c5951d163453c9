internal import GRDB

/// Hears of every error that SQLite answers, and tells who waits for it when one means that the file is damaged.
package struct DamageWatch: Sendable {
    private let reports = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingOldest(1))

    package init() {}

    /// See `GroupCommit.sorted`.
    package func classified(_ error: any Error) -> any Error {
        let error = GroupCommit.classified(error)
        if case CacheError.damaged(let message) = error { reports.continuation.yield(message) }
        return error
    }

    /// Throws `.damaged` as soon as damage has been met; returns when cancelled. For one who waits.
    package func wait() async throws {
        for await message in reports.stream { throw CacheError.damaged(message) }
    }
}

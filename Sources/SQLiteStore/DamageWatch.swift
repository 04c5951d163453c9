internal import GRDB

/// Watches every SQLite error and notifies the waiting caller when one means that the file is damaged.
package struct DamageWatch: Sendable {
    private let reports = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingOldest(1))

    package init() {}

    /// See `GroupCommit.classified`.
    package func classified(_ error: any Error) -> any Error {
        let error = GroupCommit.classified(error)
        if case CacheError.damaged(let message) = error { reports.continuation.yield(message) }
        return error
    }

    /// Waits for damage: throws `.damaged` as soon as there is some, returns when cancelled.
    package func wait() async throws {
        for await message in reports.stream { throw CacheError.damaged(message) }
    }
}

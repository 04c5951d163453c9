package import CacheStore
package import ContentStore
package import Logging
internal import SQLiteStore

/// Keeps the most recently used contents within the size limit, and deletes files that nothing refers to.
package struct ContentKeeper: Sendable {
    let store: CacheStore
    let contents: ContentFolder
    /// In bytes; contents that wait to be uploaded are kept beyond it.
    let limit: Int
    let clock: any Clock<Duration>
    let log: Logger

    /// Between two passes, however much is written meanwhile.
    private static let pause = Duration.seconds(1)

    package init(store: CacheStore, contents: ContentFolder, limit: Int, clock: any Clock<Duration>, log: Logger) {
        self.store = store
        self.contents = contents
        self.limit = limit
        self.clock = clock
        self.log = log
    }

    /// Runs until the task is cancelled or the store closes.
    package func run() async throws {
        await loggingFailures { try await sweep() }
        while !Task.isCancelled, !store.signal.isClosed {
            let commits = store.signal.commits
            await loggingFailures { try await tidy() }
            await store.signal.wait(after: commits)
            try await clock.sleep(for: Self.pause)
        }
    }

    /// Retires files without a record in the database: a crash came between the two.
    package func sweep() async throws {
        try await store.sweepContents { [contents] counted in
            for orphan in try contents.all().subtracting(counted) { try contents.retire(orphan) }
        }
    }

    /// Drops contents beyond the limit and deletes unused files.
    package func tidy() async throws {
        let dropped = try await store.dropContents(beyond: limit)
        if dropped > 0 { log.info("dropped contents to save room", metadata: ["count": "\(dropped)"]) }
        while try await store.forgetUnusedContent(retire: { [contents] in try contents.retire($0) }) != nil {}
        try await contents.eraseRetired()
    }

    private func loggingFailures(_ work: () async throws -> Void) async {
        do {
            try await work()
        } catch {
            log.warning("contents could not be cleaned up; retrying", metadata: ["error": "\(error)"])
        }
    }
}

package import CacheStore
package import ContentStore
package import Logging
internal import SQLiteStore

/// Keeps contents within their size, the most recently used ones, and destroys the files that nothing refers to.
package struct ContentKeeper: Sendable {
    let store: CacheStore
    let contents: ContentFolder
    /// In bytes; what waits to be uploaded is kept beyond that.
    let limit: Int
    let clock: any Clock<Duration>
    let log: Logger

    /// From one look to the next, however much is written meanwhile.
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

    /// Retires the files that nobody counts: a crash has come between file and count.
    package func sweep() async throws {
        try await store.sweepContents { [contents] counted in
            for orphan in try contents.all().subtracting(counted) { try contents.retire(orphan) }
        }
    }

    /// Makes room and destroys what is not needed.
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
            log.warning("contents were not tidied; that is tried again", metadata: ["error": "\(error)"])
        }
    }
}

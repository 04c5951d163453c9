/// Gives memory back once what took it is over: the start, a sync.
struct MemoryKeeper {
    /// Called before each look: what it returns comes back once something may have happened since.
    let watch: @Sendable () -> @Sendable () async -> Void
    let isBusy: @Sendable () async -> Bool
    let clock: any Clock<Duration>
    let giveBack: @Sendable () -> Void

    /// So long after something has happened: the next thing may follow.
    static let pause = Duration.seconds(10)

    /// Runs until the task is cancelled.
    func run() async throws {
        while true {
            let news = watch()
            try await clock.sleep(for: Self.pause)
            if await !isBusy() { giveBack() }
            await news()
            try Task.checkCancellation()
        }
    }
}

/// Returns unused memory to the kernel after the start and after each sync.
struct MemoryKeeper {
    /// Called before each check; returns a function that waits until something may have happened since.
    let watch: @Sendable () -> @Sendable () async -> Void
    let isBusy: @Sendable () async -> Bool
    let clock: any Clock<Duration>
    let releaseMemory: @Sendable () -> Void

    /// The delay after an event, because another often follows.
    static let pause = Duration.seconds(10)

    /// Runs until the task is cancelled.
    func run() async throws {
        while true {
            let change = watch()
            try await clock.sleep(for: Self.pause)
            if await !isBusy() { releaseMemory() }
            await change()
            try Task.checkCancellation()
        }
    }
}

/// Returns unused memory to the kernel after the start and after each sync.
///
/// What only the start needed, mostly pages of the program itself, is returned even if a sync is running: otherwise a
/// first sync, which takes the most memory, would keep it until its end.
struct MemoryKeeper {
    /// Called before each check; returns a function that waits until something may have happened since.
    let watch: @Sendable () -> @Sendable () async -> Void
    let isBusy: @Sendable () async -> Bool
    let clock: any Clock<Duration>
    let releaseMemory: @Sendable () -> Void

    /// The delay after the start, which it must not slow down. A first sync begins to take memory at once.
    static let firstPause = Duration.milliseconds(20)
    /// The delay after an event, because another often follows.
    static let pause = Duration.seconds(10)

    /// Runs until the task is cancelled.
    func run() async throws {
        try await clock.sleep(for: Self.firstPause)
        releaseMemory()
        while true {
            let change = watch()
            try await clock.sleep(for: Self.pause)
            if await !isBusy() { releaseMemory() }
            await change()
            try Task.checkCancellation()
        }
    }
}

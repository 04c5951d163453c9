/// A sleep that ends when its time is up or when someone calls `wake`, whichever comes first.
///
/// A call while no task sleeps ends the next sleep at once, so a call between checking for work and going to sleep is
/// never lost.
actor WakeableSleep {
    private let clock: any Clock<Duration>
    private var sleeper: Task<Void, Never>?
    private var isCalled = false

    init(clock: any Clock<Duration>) {
        self.clock = clock
    }

    /// Nil sleeps until `wake` is called. Returns at once when the calling task is cancelled.
    func sleep(for duration: Duration?) async {
        if !isCalled {
            let task = Task { [clock] in _ = try? await clock.sleep(for: duration ?? .seconds(31_536_000)) }
            sleeper = task
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
            sleeper = nil
        }
        isCalled = false
    }

    func wake() {
        isCalled = true
        sleeper?.cancel()
    }
}

/// The sleeps of the engine's loops, so that any part can wake any loop.
struct LoopSleeps: Sendable {
    let pull: WakeableSleep
    let push: WakeableSleep
    let signals: WakeableSleep
    /// One for each upload that may run at a time, in addition to the requests that `SyncSettings.parallel` allows.
    let uploads: [WakeableSleep]

    private static let parallelUploads = 2

    init(clock: any Clock<Duration>) {
        pull = WakeableSleep(clock: clock)
        push = WakeableSleep(clock: clock)
        signals = WakeableSleep(clock: clock)
        uploads = (0..<Self.parallelUploads).map { _ in WakeableSleep(clock: clock) }
    }

    /// Wakes all loops that send changes.
    func wakeSenders() async {
        await push.wake()
        await wakeUploads()
    }

    func wakeUploads() async {
        for sleep in uploads { await sleep.wake() }
    }
}

/// A wait that ends when its time is up or somebody calls, whichever comes first.
///
/// A call that comes while nobody rests ends the next rest at once, so none is lost between looking and lying down.
actor WakeableSleep {
    private let clock: any Clock<Duration>
    private var sleeper: Task<Void, Never>?
    private var called = false

    init(clock: any Clock<Duration>) {
        self.clock = clock
    }

    /// Nil rests until called. Returns at once when the calling task is cancelled.
    func rest(for duration: Duration?) async {
        if !called {
            let task = Task { [clock] in _ = try? await clock.sleep(for: duration ?? .seconds(31_536_000)) }
            sleeper = task
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
            sleeper = nil
        }
        called = false
    }

    func call() {
        called = true
        sleeper?.cancel()
    }
}

import Glibc
import Synchronization

/// Takes every job that the Swift runtime would hand to its thread pool, for threads that ask for it.
///
/// The runtime lets a program replace its global executor through the variable `swift_task_enqueueGlobal_hook`; that
/// catches all tasks and all default actors. This is the only file that knows: whatever is unsafe stands here.
enum EnqueueHook {
    private typealias Original = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void
    typealias Taker = @Sendable (UnownedJob) -> Void

    /// Who takes the jobs of which thread. Those of every other thread go where they always go.
    private static let takers = Mutex<[UInt: Taker]>([:])

    /// Gives `taker` all jobs that come up on this thread while `body` runs.
    static func withJobs<Result>(takenBy taker: @escaping Taker, _ body: () throws -> Result) rethrows -> Result {
        let thread = thread
        set(taker, for: thread)
        defer { set(nil, for: thread) }
        return try body()
    }

    private static var thread: UInt { UInt(pthread_self()) }

    private static func set(_ taker: Taker?, for thread: UInt) {
        takers.withLock { takers in
            takers[thread] = taker
            guard let symbol = dlsym(nil, "swift_task_enqueueGlobal_hook") else {
                preconditionFailure("this Swift runtime has no swift_task_enqueueGlobal_hook; the simulation needs it")
            }
            let variable = symbol.assumingMemoryBound(to: Hook?.self)
            variable.pointee = takers.isEmpty ? nil : hook
        }
    }

    private static var hook: Hook {
        { job, original in
            let taker = EnqueueHook.takers.withLock { $0[EnqueueHook.thread] }
            if let taker { taker(job) } else { original(job) }
        }
    }
}

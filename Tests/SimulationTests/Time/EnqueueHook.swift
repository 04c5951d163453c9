import Glibc
import Synchronization

/// Intercepts every job that the Swift runtime would pass to its thread pool, for threads that request it.
///
/// The runtime lets a program replace its global executor through the variable `swift_task_enqueueGlobal_hook`; that
/// catches all tasks and all default actors. All unsafe code for this is in this file.
enum EnqueueHook {
    private typealias Original = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void
    typealias Taker = @Sendable (UnownedJob) -> Void

    /// The receiver of each thread's jobs. Jobs of all other threads go to the pool as usual.
    private static let takers = Mutex<[UInt: Taker]>([:])

    /// Passes all jobs that are enqueued on this thread while `body` runs to `taker`.
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

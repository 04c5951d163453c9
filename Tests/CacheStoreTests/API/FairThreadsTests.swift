import Dispatch
import Synchronization
import Testing

@testable import CacheStore

@Suite("Threads that callers share fairly")
struct FairThreadsTests {
    private static let (ada, bob) = (ReadCaller(user: 1, mayTakeAll: false), ReadCaller(user: 2, mayTakeAll: false))

    /// What was done, in order.
    private final class Report: Sendable {
        private let words = Mutex<[String]>([])
        var all: [String] { words.withLock(\.self) }
        func add(_ word: String) { words.withLock { $0.append(word) } }
    }

    /// Has a thread work for `caller` until the result is called.
    private func occupied(_ threads: FairThreads, for caller: ReadCaller) async -> @Sendable () -> Void {
        let end = DispatchSemaphore(value: 0)
        await withCheckedContinuation { continuation in
            threads.run(for: caller) {
                continuation.resume()
                end.wait()
            }
        }
        return { end.signal() }
    }

    @Test func `callers take turns, however much one of them has asked for`() async {
        let (threads, report) = (FairThreads("test", count: 1), Report())
        let end = await occupied(threads, for: Self.ada)
        for word in ["a1", "a2", "a3"] { threads.run(for: Self.ada) { report.add(word) } }
        await withCheckedContinuation { continuation in
            threads.run(for: Self.bob) {
                report.add("b")
                continuation.resume()
            }
            end()
        }
        // The thread goes on with the rest.
        #expect(report.all.prefix(2) == ["a1", "b"])
    }

    @Test func `a caller takes one of two threads, and leaves the other to others`() async {
        let (threads, report) = (FairThreads("test", count: 2), Report())
        let end = await occupied(threads, for: Self.ada)
        await withCheckedContinuation { continuation in
            threads.run(for: Self.ada) {
                report.add("a")
                continuation.resume()
            }
            threads.run(for: Self.bob) {
                report.add("b")
                end()
            }
        }
        #expect(report.all == ["b", "a"])
    }

    @Test func `a caller who may take all threads takes both`() async {
        let (threads, root) = (FairThreads("test", count: 2), ReadCaller(user: 0, mayTakeAll: true))
        let ends = [await occupied(threads, for: root), await occupied(threads, for: root)]
        for end in ends { end() }
    }

    /// Runs tasks on a queue that can be halted.
    private final class HaltedExecutor: TaskExecutor {
        let queue = DispatchQueue(label: "halted")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    @Test func `a caller's next work begins once its task has taken the result of the one before`() async throws {
        let (threads, report, executor) = (FairThreads("test", count: 1), Report(), HaltedExecutor())
        let hasBegun = AsyncStream.makeStream(of: Void.self)
        let end = DispatchSemaphore(value: 0)
        let first = Task(executorPreference: executor) {
            try await threads.result(for: Self.ada) { _ in
                hasBegun.continuation.yield()
                end.wait()
            }
        }
        for await _ in hasBegun.stream { break }
        executor.queue.suspend()
        async let second: Void = threads.result(for: Self.ada) { _ in report.add("a") }
        end.signal()
        for _ in 1...2 { try await threads.result(for: Self.bob) { _ in report.add("b") } }
        #expect(report.all.suffix(2) == ["b", "b"])
        executor.queue.resume()
        try await first.value
        try await second
        #expect(report.all == ["b", "b", "a"])
    }
}

extension FairThreads {
    /// Does the work once it is this caller's turn, which ends with it.
    fileprivate func run(for caller: ReadCaller, _ work: @escaping Work) {
        add(for: caller) { [self] in
            work()
            endTurn(of: caller)
        }
    }
}

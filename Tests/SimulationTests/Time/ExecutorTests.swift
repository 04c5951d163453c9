import Synchronization
import Testing

@Suite("The simulated executor")
struct ExecutorTests {
    private actor Counter {
        var count = 0
        func add() { count += 1 }
    }

    /// The order in which ten tasks that use an actor and a clock end.
    private func order(seed: UInt64) -> [Int] {
        let executor = SimulatedExecutor(seed: seed)
        let log = Log()
        return EnqueueHook.withJobs(takenBy: { executor.enqueue($0) }) {
            let clock = SimulatedClock(executor: executor, error: .zero)
            let counter = Counter()
            for number in 0..<10 {
                Task {
                    await counter.add()
                    try await clock.sleep(for: .seconds(number % 3))
                    log.ended.withLock { $0.append(number) }
                }
            }
            executor.run(for: .seconds(3))
            return log.ended.withLock { $0 }
        }
    }

    private final class Log: Sendable {
        let ended = Mutex<[Int]>([])
    }

    @Test("every task runs on the simulation's thread, in an order that the seed decides")
    func decides() {
        let first = order(seed: 1)
        #expect(first.sorted() == Array(0..<10))
        #expect(first.map { $0 % 3 } == first.map { $0 % 3 }.sorted())
        #expect(order(seed: 1) == first)
        #expect((2..<10).contains { order(seed: $0) != first })
    }
}

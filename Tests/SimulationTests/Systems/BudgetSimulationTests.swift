import EntitySchema
import ReferenceUpstream
import Synchronization
import Testing

@testable import Upstream

/// Days of requests to an upstream that counts those that arrive, with restarts, by simulated time.
@Suite("Simulation of the request budget")
struct BudgetSimulationTests {
    private static let windows = [
        RequestLimits.Window(requests: 100, span: .seconds(60)),
        RequestLimits.Window(requests: 1500, span: .seconds(3600)),
    ]

    /// One machine, and what the upstream saw.
    private final class World: Sendable {
        struct State {
            var arrivals: [Duration] = []
            /// Changes that wait, and the pulls that passed each of them.
            var passedBy: [Int: Int] = [:]
            var mostPassedBy = 0
            var changes = 0
            var underWay = 0
            var mostUnderWay = 0
        }

        let limits: RequestLimits
        let executor: SimulatedExecutor
        let clock: SimulatedClock
        /// Across restarts.
        let requests: SystemRequests
        let state = Mutex(State())

        init(seed: UInt64, parallel: Int) {
            limits = RequestLimits(windows: BudgetSimulationTests.windows, parallel: parallel)
            executor = SimulatedExecutor(seed: seed)
            clock = SimulatedClock(executor: executor, error: .zero)
            requests = SystemRequests(executor: executor)
        }

        func budget() -> RequestBudget {
            RequestBudget(
                limits: limits, ages: requests.ages, monotonic: { [executor] in executor.now },
                sleep: { [clock] in try await clock.sleep(for: $0) }, journal: requests)
        }

        /// A request that travels, arrives, and is answered or not.
        func request(_ urgency: RequestBudget.Urgency, number: Int, _ budget: RequestBudget) async throws {
            // More than the limit would pass, whatever the number of requests at a time.
            let longest = 330 * (limits.parallel ?? 1)
            if urgency == .urgent { state.withLock { $0.passedBy[number] = 0 } }
            let pass = try await budget.enter(urgency) { _ in }
            state.withLock { state in
                state.passedBy[number] = nil
                if urgency == .background {
                    for waiting in state.passedBy.keys { state.passedBy[waiting, default: 0] += 1 }
                    state.mostPassedBy = max(state.mostPassedBy, state.passedBy.values.max() ?? 0)
                } else {
                    state.changes += 1
                }
            }
            try? await clock.sleep(for: .milliseconds(executor.random { $0.within(1...longest) }))
            state.withLock { state in
                state.arrivals.append(executor.now)
                state.underWay += 1
                state.mostUnderWay = max(state.mostUnderWay, state.underWay)
            }
            try? await clock.sleep(for: .milliseconds(executor.random { $0.within(1...longest) }))
            state.withLock { $0.underWay -= 1 }
            budget.leave(pass)
        }
    }

    @Test(
        "over days no span has more requests than its limit, and no change waits for pulls that came after it",
        arguments: [(1, 6), (2, 6), (3, 6), (4, 1), (5, 1)])
    func days(_ seed: UInt64, _ parallel: Int) {
        let world = World(seed: seed, parallel: parallel)
        EnqueueHook.withJobs(takenBy: { world.executor.enqueue($0) }) {
            var number = 0
            for _ in 0..<40 {
                let budget = world.budget()
                var tasks: [Task<Void, any Error>] = []
                // A burst, then a trickle: an hour or so until the next restart.
                for _ in 0..<world.executor.random({ $0.within(5...40) }) {
                    let burst = world.executor.random { $0.chance(0.3) ? $0.within(20...150) : $0.within(1...5) }
                    for _ in 0..<burst {
                        let urgency: RequestBudget.Urgency =
                            world.executor.random { $0.chance(0.3) } ? .urgent : .background
                        number += 1
                        tasks.append(Task { [number] in try await world.request(urgency, number: number, budget) })
                    }
                    world.executor.run(for: .milliseconds(world.executor.random { $0.within(1...300_000) }))
                }
                for task in tasks { task.cancel() }
                _ = world.executor.drain(within: .seconds(10))
                world.state.withLock { $0.passedBy = [:] }
            }
        }
        let state = world.state.withLock { $0 }
        #expect(world.executor.now > .seconds(86_400))
        #expect(state.arrivals.count > 5000 && state.changes > 1000)
        for window in Self.windows {
            let most = state.arrivals.most(within: window.span)
            #expect(most <= window.requests)
            #expect(most > window.requests / 2, "the limit must have been felt")
        }
        // Only those that were let pass before it came: one request at a time, and it waits for one.
        #expect(state.mostPassedBy <= parallel)
        #expect(state.mostUnderWay <= parallel)
    }
}

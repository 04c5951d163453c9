import EntitySchema
import Testing

@testable import SyncEngine

@Suite("The engine's executor")
struct EngineIsolationTests {
    /// Two parts with one executor, as the engine has them.
    private actor Part {
        let isolation: EngineIsolation
        private(set) var steps = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor { isolation.unownedExecutor }

        init(_ isolation: EngineIsolation) {
            self.isolation = isolation
        }

        func step() { steps += 1 }

        /// Calls the other part back and forth; returns what this part counted meanwhile.
        func call(_ other: Part, times: Int) async -> Int {
            let before = steps
            for _ in 1...times {
                await other.step()
                _ = await other.steps
            }
            return steps - before
        }
    }

    @Test("calls between parts let nothing else run in between")
    func oneStep() async {
        let isolation = EngineIsolation()
        let (first, second) = (Part(isolation), Part(isolation))
        await withTaskGroup(of: Int.self) { group in
            for _ in 1...8 {
                group.addTask { await first.call(second, times: 1000) }
                group.addTask {
                    await first.step()
                    return 0
                }
            }
            for await seenMeanwhile in group { #expect(seenMeanwhile == 0) }
        }
        #expect(await second.steps == 8000)
    }
}

import Testing

@testable import SyncEngine

@Suite("Async semaphore")
struct AsyncSemaphoreTests {
    private actor Tally {
        private var now = 0
        private(set) var most = 0

        func add(_ count: Int) {
            now += count
            most = max(most, now)
        }
    }

    @Test("every waiter gets a slot, never more than the limit at once; returning a slot twice returns it once")
    func limit() async {
        let slots = AsyncSemaphore(3)
        let tally = Tally()
        await withTaskGroup { group in
            for _ in 1...200 {
                group.addTask {
                    let slot = await slots.take()
                    await tally.add(1)
                    await tally.add(-1)
                    slot.give()
                    slot.give()
                }
            }
        }
        #expect(await (1...3).contains(tally.most))
    }
}

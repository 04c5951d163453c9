import CacheStore
import Synchronization
import TestSupport
import Testing

@testable import SyncEngine

@Suite("Requests for single records")
struct RequestCoalescerTests {
    private static let (ada, bob) = (ReadCaller(user: 1, mayTakeAll: false), ReadCaller(user: 2, mayTakeAll: false))

    /// What was asked, in order.
    private final class Asked: Sendable {
        private let keys = Mutex<[String]>([])
        var all: [String] { keys.withLock(\.self) }
        func note(_ key: String) { keys.withLock { $0.append(key) } }
    }

    @Test func `callers take turns, however much one of them has asked for`() async {
        let coalescer = RequestCoalescer(clock: ManualClock(), parallel: 1)
        let asked = Asked()
        let (hasBegun, begun) = AsyncStream.makeStream(of: Void.self)
        let (mayEnd, end) = AsyncStream.makeStream(of: Void.self)
        async let first = coalescer.outcome(of: RecordName(entity: "orders", key: "a1"), for: Self.ada) {
            begun.yield()
            for await _ in mayEnd { break }
            return .stored
        }
        for await _ in hasBegun { break }
        await withTaskGroup(of: Void.self) { group in
            for (count, (caller, key)) in [(Self.ada, "a2"), (Self.ada, "a3"), (Self.bob, "b")].enumerated() {
                group.addTask {
                    _ = await coalescer.outcome(of: RecordName(entity: "orders", key: key), for: caller) {
                        asked.note(key)
                        return .stored
                    }
                }
                while await coalescer.waitingCount <= count { await Task.yield() }
            }
            end.yield()
        }
        #expect(await first == .stored)
        #expect(asked.all == ["a2", "b", "a3"])
    }
}

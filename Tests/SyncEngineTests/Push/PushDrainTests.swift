import TestSupport
import Testing

@testable import CacheStore
@testable import SyncEngine

@Suite("A drain of the queue")
struct PushDrainTests {
    @Test("says whether it has admitted a change: without one, no other loop need be woken", arguments: [true, false])
    func admits(_ mayBegin: Bool) async throws {
        let test = try await TestEngine.editing(1, TestEngine.shop)
        let admission = PushAdmission(
            slots: { 4 }, allowance: { .all }, newest: { .max }, mayBegin: { _ in mayBegin }, barred: { nil },
            breaksOff: { _ in })
        let hasAdmitted = try await test.pusher(at: test.clock.timestamp).drain(through: admission)
        #expect(hasAdmitted == mayBegin)
        #expect(test.upstream.pushes.count == (mayBegin ? 1 : 0))
    }
}

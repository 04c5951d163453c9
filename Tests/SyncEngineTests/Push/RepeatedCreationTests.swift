import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("A creation that is answered 409 after an answer was lost")
struct RepeatedCreationTests {
    private let lost = UpstreamError.unclear(status: nil, "no answer")
    private let conflict = UpstreamError.changed(status: 409, "a request with this key is in progress")

    private func test(_ yaml: String) async throws -> (TestEngine, key: String) {
        let test = try await TestEngine.with(yaml)
        let key = try await test.create()
        return (test, key)
    }

    private func send(_ test: TestEngine, every seconds: Int = 12, times: Int) async throws {
        for _ in 1...times {
            test.clock.advance(by: .seconds(seconds))
            try await test.send()
        }
    }

    @Test(
        "is repeated under its key until the first attempt has ended, and counts no attempt", arguments: [true, false])
    func inProgress(_ hasLookUp: Bool) async throws {
        let (test, key) = try await test(hasLookUp ? TestEngine.shopWithLookUp : TestEngine.shop)
        test.upstream.fail(lost)
        test.upstream.fail(conflict, times: 3)
        try await send(test, times: 4)
        #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        #expect(try test.store.pending(PendingQuery(limit: 1)).changes.first?["retry_count"] == 1)
        try await send(test, times: 1)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(Set(test.upstream.pushes.map(\.key)).count == 1)
        #expect(test.upstream.records("/orders").count == 2)
        #expect(try test.record(key)?["id"] == "server-1")
    }

    @Test("is left to a person in the end if no look-up can say, and an edit then waits for it")
    func withoutLookUp() async throws {
        let (test, key) = try await test(TestEngine.shop)
        test.upstream.fail(lost, afterApplying: true)
        test.upstream.fail(conflict, times: 99)
        try await send(test, times: 9)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try test.error() == "unclear")
        try await test.change(key, #"{"notes":"edited"}"#)
        test.upstream.clearFailures()
        try await send(test, times: 1)
        #expect(Set(test.upstream.pushes.map(\.key)).count == 1, "nothing is created under another key")
        _ = try await test.store.retry(nil, at: test.clock.timestamp)
        try await send(test, times: 2)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(test.upstream.records("/orders").map { $0["notes"] } == ["n", "edited"])
    }

    @Test("is refused once a look-up says that there is no record, and can be corrected")
    func absent() async throws {
        let (test, key) = try await test(TestEngine.shopWithLookUp)
        test.upstream.fail(lost)
        test.upstream.fail(conflict, times: 99)
        try await send(test, times: 20)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try test.error() == "conflict")
        test.upstream.clearFailures()
        try await test.change(key, #"{"notes":"edited"}"#)
        try await send(test, times: 1)
        #expect(test.upstream.records("/orders").map { $0["notes"] } == ["n", "edited"])
    }

    @Test("is refused at once if no attempt before can have arrived")
    func notArrived() async throws {
        let (test, _) = try await test(TestEngine.shop)
        test.upstream.fail(.throttled(.seconds(1), "slow down"), times: 2)
        test.upstream.fail(.changed(status: 409, "this name is taken"))
        try await send(test, times: 3)
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 1))
        #expect(try test.error() == "conflict")
    }
}

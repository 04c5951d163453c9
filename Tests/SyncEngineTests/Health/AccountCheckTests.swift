import EntitySchema
import JSONText
import Logging
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("The account that a token belongs to", .timeLimit(.minutes(10)))
struct AccountCheckTests {
    private let orders = #"[{"id":"a","updated_at":"2026-01-01T00:00:00.000Z"}]"#

    private func test() throws -> TestEngine {
        let test = try TestEngine()
        try test.upstream.set("/orders", orders)
        return test
    }

    /// Refuses the token of the next change, so that the account is asked for again.
    private func refuseToken(_ test: TestEngine) async throws {
        test.upstream.fail(.unauthorized("PATCH /orders/a answered 401"))
        try await test.change("a", #"{"notes":"x"}"#)
        test.engine.noteLocalWrite()
        try await test.until { !test.upstream.pushes.isEmpty }
    }

    /// Lets time pass until the engine ends because the token belongs to company-2.
    private func expectOtherAccount(_ running: Task<Void, any Error>, _ clock: ManualClock) async {
        let time = Task {
            while !Task.isCancelled {
                clock.advance(by: .milliseconds(100))
                await Task.yield()
            }
        }
        await #expect(throws: SyncError.otherAccount("company-2")) { try await running.value }
        time.cancel()
    }

    @Test("after a refused token the account is checked again before anything is sent")
    func exchangedToken() async throws {
        let test = try test()
        let running = Task { try await test.engine.run() }
        try await test.engine.sync(SyncRequest())
        test.upstream.setAccount("company-2")
        try await refuseToken(test)
        await expectOtherAccount(running, test.clock)
        #expect(test.upstream.pushes.count == 1)
    }

    @Test("a token that has come to stand for another account brings no record of that account into this cache")
    func switchedAccount() async throws {
        let test = try test()
        let running = Task { try await test.engine.run() }
        try await test.engine.sync(SyncRequest())
        #expect(try test.store.cursor(of: "orders").watermark != nil)
        test.upstream.setAccount("company-2")
        try test.upstream.set("/orders", #"[{"id":"b","updated_at":"2026-01-02T00:00:00.000Z"}]"#)
        test.clock.advance(by: AccountCheck.confirmedEvery)
        await test.engine.requestSync(SyncRequest(full: true))
        await expectOtherAccount(running, test.clock)
        #expect(try test.record("a") != nil)
        #expect(try test.record("b") == nil)
        // Had the account changed during the last pull, some of its pages would have been the other one's.
        let cursor = try test.store.cursor(of: "orders")
        #expect(cursor.watermark == nil && cursor.lastFullAt == nil)
    }

    @Test("a question for the known account that fails alone holds nothing up")
    func unansweredQuestion() async throws {
        let test = try test()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.failAccount(.refused(status: 404, "GET /me answered 404"))
            try test.upstream.set("/orders", #"[{"id":"b","updated_at":"2026-01-02T00:00:00.000Z"}]"#)
            test.clock.advance(by: AccountCheck.confirmedEvery)
            try await test.engine.sync(SyncRequest())
            #expect(test.upstream.accountRequests == 2)
            #expect(try test.record("b") != nil)
        }
    }

    @Test("an answer that was asked for before the token was refused does not count")
    func refusedMeanwhile() async throws {
        let test = try test()
        let check = AccountCheck(
            SyncEnvironment(
                store: test.store, upstream: test.upstream, settings: SyncSettings(),
                time: SyncTime(clock: test.clock, now: { test.clock.timestamp }), random: { 0.5 },
                callbacks: SyncCallbacks(), log: .silent))
        test.upstream.onAccount { await check.doubt() }
        try await check.require(from: test.upstream)
        test.upstream.onAccount(nil)
        for _ in 1...2 { try await check.require(from: test.upstream) }
        #expect(test.upstream.accountRequests == 2)
    }

    @Test("a token of another account never touches this cache")
    func otherAccount() async throws {
        let first = try TestEngine()
        try await first.running { try await first.engine.sync(SyncRequest()) }
        let second = try TestEngine(store: first.store)
        second.upstream.setAccount("company-2")
        try second.upstream.set("/orders", orders)
        let began = second.clock.timestamp
        let running = Task { try await second.engine.run() }
        await expectOtherAccount(running, second.clock)
        #expect(second.clock.timestamp.since(began) >= .seconds(5))
        #expect(second.upstream.accountRequests == 2)
        #expect(try second.store.rowCounts()["orders"] == 0)
    }

    @Test("one answer that names another account is asked about again, and changes nothing")
    func wrongAnswer() async throws {
        let test = try test()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.answerAccounts(["company-2"])
            try await refuseToken(test)
            try await test.until { test.upstream.appliedCount == 1 }
            #expect(test.upstream.accountRequests == 3)
            #expect(try test.store.setting("account") == "company-1")
        }
    }

    @Test("nothing is sent, and no other cache opened, while the upstream names another account each time")
    func flood() async throws {
        let test = try test()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.answerAccounts((2...99).map { "company-\($0)" })
            try await refuseToken(test)
            try await test.until { test.upstream.accountRequests >= 20 }
            #expect(test.upstream.pushes.count == 1)
            #expect(try test.store.pendingCount() == PendingCount(pending: 1, failed: 0))
        }
    }

    @Test("what a gateway repeats names no other account, however often")
    func repeated() async throws {
        let test = try test()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.setAccount("company-2")
            test.upstream.repeatAccounts(times: 1000)
            try await refuseToken(test)
            try await test.until { test.upstream.accountRequests >= 7 }
            #expect(test.upstream.pushes.count == 1)
            #expect(try test.store.setting("account") == "company-1")

            test.upstream.setAccount("company-1")
            test.upstream.repeatAccounts(times: 0)
            try await test.until { test.upstream.appliedCount == 1 }
        }
    }

    @Test("two answers of the upstream itself count, also with repeated ones between them")
    func repeatedBetween() async throws {
        let test = try test()
        let running = Task { try await test.engine.run() }
        try await test.engine.sync(SyncRequest())
        test.upstream.setAccount("company-2")
        test.upstream.repeatAccounts(times: 3)
        try await refuseToken(test)
        await expectOtherAccount(running, test.clock)
        #expect(test.upstream.accountRequests >= 1 + 3 + 2)
        #expect(test.upstream.pushes.count == 1)
    }
}

import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("An upstream that fails")
struct OutageTests {
    private let failure = UpstreamError.unclear(status: 503, "down")
    private let now = Timestamp(milliseconds: 0)

    // MARK: Health

    @Test("consecutive failures are an outage; failures between answers or of one entity are not")
    func outage() {
        var health = CircuitBreaker()
        for _ in 1...10 {
            health.failed("down", by: "orders", of: 2)
            health.failed("down", by: "parts", of: 2)
            health.answered()
        }
        health.failed("down", by: "orders", of: 2)
        health.failed("down", by: "orders", of: 2)
        #expect(!health.isDoubtful, "two failures are nothing unusual")
        health.failed("down", by: "orders", of: 2)
        #expect(health.isDoubtful)
        for _ in 1...10 { health.failed("down", by: "orders", of: 2) }
        #expect(!health.isDown && health.isDoubtful)
        health.failed("down", by: "parts", of: 2)
        #expect(health.isDown && health.reasonNotToCall(at: now) == "down")
        health.answered()
        #expect(!health.isDown)
    }

    @Test("probes are 2 s apart at first, and at most 60 s")
    func probeDelays() {
        var health = CircuitBreaker()
        health.lost("refused")
        var delays: [Duration] = []
        for _ in 1...1000 {
            delays.append(health.probeDelay)
            health.probed()
        }
        #expect(delays.prefix(6) == [.seconds(2), .seconds(4), .seconds(8), .seconds(16), .seconds(32), .seconds(60)])
        #expect(delays.last == .seconds(60))
    }

    @Test("after answers to nothing but probes, syncs follow outages ever later")
    func relapses() {
        var health = CircuitBreaker()
        var waits: [Duration] = []
        for servesEntity in [true, false, false, true] {
            if servesEntity { health.answered() } else { health.answered(servesEntity: false) }
            for entity in ["orders", "parts", "orders"] { health.failed("down", by: entity, of: 2) }
            waits.append(health.relapseWait)
        }
        #expect(waits == [.zero, .seconds(2), .seconds(4), .zero])
    }

    @Test("after a network change probes are quick at first")
    func hurriedProbes() {
        var health = CircuitBreaker()
        health.lost("refused")
        for _ in 1...10 { health.probed() }
        health.hurry()
        var delays: [Duration] = []
        for _ in 1...10 {
            delays.append(health.probeDelay)
            health.probed()
        }
        #expect(delays.first == .nanoseconds(7_812_500))
        #expect(zip(delays, delays.dropFirst()).allSatisfy { $0 * 2 == $1 })
        #expect(delays.last == .seconds(4))
    }

    @Test("a network change does not speed up the trials during an outage")
    func failingIsNotHurried() {
        var health = CircuitBreaker()
        health.lost("refused")
        health.hurry()
        for entity in ["orders", "parts", "orders"] { health.failed("down", by: entity, of: 2) }
        #expect(health.probeDelay == .seconds(2))
        health.probed()
        health.hurry()
        #expect(health.probeDelay == .seconds(2))
    }

    // MARK: The engine

    /// An engine whose upstream has the orders 1 to `count`.
    private func engine(orders count: Int) throws -> TestEngine {
        let test = try TestEngine()
        let records = (1...count).map { #"{"id":"\#($0)","notes":"n"}"# }
        try test.upstream.set("/orders", "[\(records.joined(separator: ","))]")
        return test
    }

    /// Changes the orders 1 to `count` locally.
    private func changeOrders(_ count: Int, _ test: TestEngine) async throws {
        for number in 1...count { try await test.change("\(number)", #"{"notes":"mine"}"#) }
    }

    @Test("an outage costs few requests; after it come one trial, then everything")
    func budget() async throws {
        let test = try engine(orders: 100)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await changeOrders(100, test)
            test.upstream.fail(failure, times: 1000)
            test.upstream.failProbes(true)
            for list in ["/orders", "/parts"] { test.upstream.failList(list, failure) }
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(test.engine.status().state == .error)
            let end = test.clock.timestamp + .seconds(3600)
            try await test.until(step: .seconds(10)) { test.clock.timestamp >= end }
            #expect(test.upstream.pushes.count < 10)
            test.upstream.clearFailures()
            test.upstream.failProbes(false)
            for list in ["/orders", "/parts"] { test.upstream.failList(list, nil) }
            let failed = test.upstream.pushes.count
            try await test.until { try test.store.pendingCount().pending == 0 }
            #expect(test.upstream.pushes.count == failed + 100)
            #expect(try test.store.pendingCount().failed == 0)
        }
    }

    @Test("an outage also ends where the probe's path fails for good, soon after a list is served again")
    func uselessProbe() async throws {
        let test = try engine(orders: 1)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await changeOrders(1, test)
            test.upstream.fail(failure, times: 1000)
            test.upstream.failProbes(true)
            for list in ["/orders", "/parts"] { test.upstream.failList(list, failure) }
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(test.engine.status().state == .error)
            test.upstream.clearFailures()
            for list in ["/orders", "/parts"] { test.upstream.failList(list, nil) }
            try await test.until(step: .seconds(10)) { try test.store.pendingCount().pending == 0 }
            #expect(try test.store.pendingCount().failed == 0)
            #expect(test.engine.status().error == nil)
        }
    }

    @Test("failures of records that callers ask for are no outage: callers choose what is read")
    func askedFor() async throws {
        let test = try engine(orders: 1)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.failRecords(failure)
            for name in ["orders", "parts", "orders", "parts"] {
                let entity = try #require(test.store.schema[name])
                #expect(await test.engine.refresh(entity, key: "x") != .stored)
            }
            #expect(test.engine.status().error == nil)
            try await test.engine.sync(SyncRequest())
        }
    }

    // MARK: The budget

    @Test(
        "retries are a tenth of first attempts, then one a minute, until a change is answered")
    func retryBudget() {
        var budget = RetryBudget()
        for _ in 1...20 { budget.earn() }
        var repetitions = 0
        while !budget.isExhausted {
            budget.spend(on: 1, at: now)
            repetitions += 1
        }
        #expect(repetitions == 5)
        var time = now
        var waits: [Duration] = []
        for _ in 1...8 {
            budget.spend(on: 1, at: time)
            waits.append(budget.wait(at: time))
            time = time + budget.wait(at: time)
        }
        #expect(waits.first == .seconds(2) && waits.last == .seconds(60))
        budget.fill()
        #expect(!budget.isExhausted && budget.wait(at: time) == .zero)
    }

    @Test("a change that was only looked up costs the budget nothing, and makes no trial wait longer")
    func lookUpsAreFree() {
        var budget = RetryBudget()
        let full = budget
        budget.spend(on: 1, at: now)
        budget.takeBack(1)
        #expect(budget == full)
        while !budget.isExhausted { budget.spend(on: 1, at: now) }
        budget.spend(on: 1, at: now)
        let wait = budget.wait(at: now)
        budget.spend(on: 1, at: now + wait)
        budget.takeBack(1)
        #expect(budget.wait(at: now) == wait && budget.allowance(at: now + wait) == .trial)
    }

    @Test("no more retries are made at once than the budget allows, and no wait gets longer")
    func repeatedAtOnce() async throws {
        let test = try engine(orders: 8)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await changeOrders(8, test)
            test.upstream.fail(failure, times: 1000)
            try await test.engine.sync(SyncRequest())
            #expect(test.upstream.pushes.count == 8)
            test.clock.advance(by: .seconds(2))
            try await test.engine.sync(SyncRequest())
            #expect(test.upstream.pushes.count == 8 + 3 + 1)
            test.upstream.clearFailures()
            let healed = test.clock.timestamp
            // In small steps: some pass before the engine gets its turn, while other threads are busy.
            try await test.until(step: .milliseconds(50)) { try test.store.pendingCount().pending == 0 }
            #expect(test.clock.timestamp.since(healed) < .seconds(5))
        }
    }

    @Test("an outage of the changes alone costs one trial a minute, not a retry of every change")
    func trials() async throws {
        let test = try engine(orders: 50)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try await changeOrders(50, test)
            test.upstream.fail(failure, times: 1000)
            try await test.engine.sync(SyncRequest())
            let end = test.clock.timestamp + .seconds(1800)
            try await test.until(step: .seconds(10)) { test.clock.timestamp >= end }
            // Every change once, a tenth of that and the reserve again, then the trials.
            #expect(test.upstream.pushes.count > 55 && test.upstream.pushes.count <= 50 + 8 + 36)

            test.upstream.clearFailures()
            try await test.until { try test.store.pendingCount().pending == 0 }
            #expect(try test.store.pendingCount().failed == 0)
        }
    }

    @Test("a manual retry is sent even when the retry budget is exhausted")
    func retriedByAPerson() async throws {
        let test = try engine(orders: 9)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.breakMethod("PATCH")
            try await changeOrders(9, test)
            try await test.engine.sync(SyncRequest())
            try await test.until(step: .seconds(10)) { try test.store.pendingCount().failed == 9 }
            test.upstream.breakMethod("none")
            #expect(try await test.store.retry(nil, at: test.clock.timestamp) == 9)
            test.engine.noteLocalWrite()
            try await test.until { try test.store.pendingCount() == PendingCount(pending: 0, failed: 0) }
        }
    }

    @Test("a broken entity does not hold up others, however many of its changes wait")
    func oneBroken() async throws {
        let test = try engine(orders: 100)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.breakMethod("PATCH")
            test.upstream.failList("/orders", failure)
            try await changeOrders(100, test)
            let body = try JSONText(parsing: #"{"order_id":"1"}"#)
            _ = try await test.store.create("messages", body: body, at: test.clock.timestamp)
            try test.upstream.set("/parts", #"[{"id":"p"}]"#)
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            #expect(test.upstream.records("/orders/1/messages").count == 1)
            #expect(try test.store.rowCounts()["parts"] == 1)
        }
    }

    @Test(
        "where changes of one entity fail, another list shows at once whether that is an outage",
        arguments: [true, false])
    func askedElsewhere(isOutage: Bool) async throws {
        let test = try engine(orders: 9)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            if isOutage { test.upstream.failList("/parts", failure) }
            test.upstream.failProbes(true)
            test.upstream.breakMethod("PATCH")
            try await changeOrders(9, test)
            let began = test.clock.timestamp
            test.engine.noteLocalWrite()
            // The next sync, which would find out as well, is minutes away.
            try await test.until { test.clock.timestamp.since(began) >= .seconds(30) }
            let state = test.engine.status().state
            #expect((state == .error) == isOutage, "\(state)")
        }
    }

    @Test("a record that cannot be read for its edit does not end all pulls where there is one entity")
    func oneUnreadable() async throws {
        let test = try TestEngine(
            schema: """
                schema: shop
                upstream: { base_url: http://localhost, pagination: { style: page } }
                entities:
                  orders:
                    fields: { id: { type: string }, notes: { type: string } }
                    pull: { path: /orders }
                    push: { create: { call: POST /orders }, update: { call: "PUT /orders/{id}" } }
                """)
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n"}]"#)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.failRecords(failure)
            try await test.change("a", #"{"notes":"mine"}"#)
            test.engine.noteLocalWrite()
            try await test.until { test.upstream.recordRequests >= 5 }
            try test.upstream.set("/orders", #"[{"id":"a","notes":"n"},{"id":"b","notes":"new"}]"#)
            let end = test.clock.timestamp + .seconds(3600)
            try await test.until(step: .seconds(10)) {
                try test.record("b") != nil || test.clock.timestamp >= end
            }
            #expect(try test.record("b")?["notes"] == "new")
        }
    }

    @Test("nothing starts while paused, not even the next step of a run under way")
    func paused() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", #"[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"d"},{"id":"e"}]"#)
        try await test.running {
            test.upstream.onPage { await test.engine.pause() }
            await #expect(throws: SyncError.paused) { try await test.engine.sync(SyncRequest()) }
            #expect(test.upstream.pages.count == 1)
        }
    }

    // MARK: The time of day

    @Test(
        "setting the clock makes nothing early or late",
        arguments: [Duration.seconds(315_360_000), .seconds(-315_360_000)])
    func clockJump(_ jump: Duration) async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", #"[{"id":"a","notes":"n"}]"#)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.fail(failure)
            try await test.change("a", #"{"notes":"mine"}"#)
            try await test.engine.sync(SyncRequest())
            test.clock.set(by: jump)
            try await test.engine.sync(SyncRequest())
            #expect(test.upstream.pushes.count == 1, "not a moment too early")
            test.upstream.fail(.throttled(.seconds(30), "too many"))
            try await test.until { test.upstream.pushes.count == 2 }
            let held = try #require(test.engine.status().retryAfter).since(test.clock.timestamp)
            #expect(held > .zero && held <= .seconds(30))
            let next = try #require(test.engine.status().nextSyncAt).since(test.clock.timestamp)
            #expect(next > .zero && next <= .seconds(990))
            try await test.until { try test.store.pendingCount().pending == 0 }
        }
    }

    @Test(
        "after a restart, a failure timed by a fast clock waits no longer than any other",
        arguments: [(ErrorClass.timeout, 4), (.throttled, 3600)])
    func restart(errorClass: ErrorClass, longest: Int) async throws {
        let test = try TestEngine()
        let now = test.clock.timestamp
        let wrong = now + .seconds(315_360_000)
        _ = try await test.store.apply(PulledPage(entity: "orders", records: #"[{"id":"a"}]"#), at: wrong)
        try await test.change("a", #"{"notes":"mine"}"#)
        let failure = PushFailure(errorClass, message: "not now")
        for attempt in 1...2 {
            let change = try #require(try test.store.readyChanges(limit: 1, at: wrong).first)
            _ = try await test.store.begin(change, at: wrong)
            let wait = Duration.seconds(attempt == 1 ? 0 : 3600)
            try await test.store.finish(change.id, .waiting(failure, at: wrong + wait, counted: true), at: wrong)
        }
        let retry = RetryPolicy(base: .seconds(2))
        _ = try await test.store.recoverInterrupted(at: now, longest: retry.longest)
        #expect(try test.store.nextAttempt() == now + .seconds(longest))
    }
}

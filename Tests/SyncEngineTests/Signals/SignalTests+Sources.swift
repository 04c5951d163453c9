import EntitySchema
import JSONText
import Synchronization
import TestSupport
import Testing
import Upstream
@testable import CacheStore
@testable import SyncEngine

/// Where signals come from, and what happens when that fails.
extension SignalTests {
    @Test("a stream that ends is opened again with the last event's id, and one pull brings what was missed")
    func reconnects() async throws {
        try await running { test in
            try await takeIn("a", test)
            let pages = test.upstream.pages.count
            test.upstream.streams.fail(.unclear(status: 503, "down"), times: 3)
            test.upstream.streams.end()
            #expect(try await statusBecomes(connected: false, test))
            try test.upstream.set("/parts", #"[{"id":"p"}]"#)
            try await test.until(step: .milliseconds(50)) { test.upstream.streams.isOpen }
            #expect(test.upstream.streams.lastEvents.last == "7")
            #expect(test.upstream.streams.lastEvents.count == 5)
            try await test.until(step: .milliseconds(50)) { try test.record("p", "parts") != nil }
            try await pass(.seconds(5), test)
            #expect(test.upstream.pages.dropFirst(pages).count { $0.path == "/parts" } == 1)
            // A broken stream is no outage.
            #expect(test.engine.status().isReachable)
            #expect(try await statusBecomes(connected: true, test))
        }
    }

    @Test("a stream that ends because it was quiet for `idle` is opened again at once, however often")
    func quiet() async throws {
        try await running("sse: { path: /realtime, entity: { at: kind }, key: id, idle: 5s }") { test in
            try await test.until { test.upstream.streams.isOpen }
            for _ in 1...10 {
                try await pass(.seconds(5), test)
                test.upstream.streams.end(.failure(.unclear(status: nil, "silent")))
                // No time passes.
                try await eventually { test.upstream.streams.isOpen }
            }
            #expect(test.engine.status().signals.first?.error == nil)
        }
    }

    private func statusBecomes(connected: Bool, _ test: TestEngine) async throws -> Bool {
        try await test.until(step: .milliseconds(10)) {
            test.engine.status().signals.first?.isConnected == connected
        }
        return test.engine.status().signals.map(\.path) == ["/realtime"]
    }

    private static let log =
        "events: { path: /log, records: data, since: { param: from, greatest: updated_at }, entity: orders, key: id, "
        + "every: 10s }"

    @Test("events of a list are read from where the last poll ended, also after a restart")
    func events() async throws {
        let store = Mutex<CacheStore?>(nil)
        try await running(Self.log) { test in
            store.withLock { $0 = test.store }
            try test.upstream.set("/log", #"[{"id":"b","updated_at":"2026-01-02T00:00:00Z"}]"#)
            try test.upstream.set("/orders", Self.orders("one", "changed"))
            try await test.until { try notes("b", test) == "changed" }
            try await test.until { try test.store.setting("signals:events /log") == "2026-01-02T00:00:00Z" }
            let reads = test.upstream.recordRequests
            try await pass(.seconds(40), test)
            // The last event is listed again each time.
            #expect(test.upstream.recordRequests == reads)
            #expect(test.engine.status().signals.first?.isConnected == true)
        }
        let kept = try #require(store.withLock { $0 })
        #expect(try kept.setting("signals:events /log") == "2026-01-02T00:00:00Z")
    }

    @Test("a list of events that begins at a time is asked for once at each poll, also when it has news")
    func onePage() async throws {
        try await running(Self.log) { test in
            // No pull is due: each page is one of the list of events.
            let times = Mutex<[Timestamp]>([])
            test.upstream.onPage { [clock = test.clock] in times.withLock { $0.append(clock.timestamp) } }
            try test.upstream.set("/log", #"[{"id":"b","updated_at":"2026-01-02T00:00:00Z"}]"#)
            try await test.until { try test.store.setting("signals:events /log") == "2026-01-02T00:00:00Z" }
            try await pass(.seconds(20), test)
            let asked = times.withLock { $0 }
            #expect(zip(asked, asked.dropFirst()).allSatisfy { $1.since($0) >= .seconds(9) }, "\(asked)")
        }
    }

    @Test("where a list of events was read to is stored only once what they name was read")
    func unreadEvents() async throws {
        try await running(Self.log) { test in
            let answers = Mutex(false)
            test.upstream.onRecord { while !answers.withLock({ $0 }) { await Task.yield() } }
            try test.upstream.set("/log", #"[{"id":"b","updated_at":"2026-01-02T00:00:00Z"}]"#)
            try test.upstream.set("/orders", Self.orders("one", "changed"))
            try await pass(.seconds(40), test)
            #expect(try test.store.setting("signals:events /log") == nil)
            answers.withLock { $0 = true }
            try await test.until { try test.store.setting("signals:events /log") == "2026-01-02T00:00:00Z" }
            #expect(try notes("b", test) == "changed")
        }
    }

    @Test("a list of events that fails is polled on, says why once, and is no outage")
    func failingEvents() async throws {
        let lines = LogLines()
        let source = "events: { path: /log, since: { param: after, next: { last: id } }, entity: orders, key: id }"
        try await running(source, logging: lines) { test in
            test.upstream.failList("/log", .unclear(status: 500, "broken"))
            try await test.until { test.engine.status().signals.first?.error == "broken" }
            try await pass(.seconds(120), test)
            let status = test.engine.status()
            #expect(status.isReachable && status.error == nil)
            test.upstream.failList("/log", .unclear(status: 500, "broken otherwise"))
            try await pass(.seconds(120), test)
            let errors = lines.all.filter { $0.metadata["source"] == "events /log" }.map { $0.metadata["error"] }
            #expect(errors == ["broken", "broken otherwise"])
        }
    }

    @Test("a list of events that has failed for long is read again within a minute")
    func recoveredEvents() async throws {
        let source = "events: { path: /log, since: { param: after, next: { last: id } }, entity: orders, key: id }"
        try await running(source) { test in
            test.upstream.failList("/log", .unclear(status: 500, "broken"))
            try await test.until { test.engine.status().signals.first?.error == "broken" }
            let repaired = test.clock.timestamp + .seconds(500)
            try await test.until { test.clock.timestamp >= repaired }
            test.upstream.failList("/log", nil)
            try await test.until { test.engine.status().signals.first?.isConnected == true }
            #expect(test.clock.timestamp.since(repaired) <= .seconds(60))
        }
    }

    @Test("a position that the upstream no longer knows is given up, and the entity is pulled")
    func forgottenPosition() async throws {
        let source =
            "events: { path: /log, since: { param: from, greatest: updated_at }, entity: parts, key: id, every: 10s }"
        try await running(source) { test in
            try test.upstream.set("/log", #"[{"id":"p","updated_at":"2026-01-02T00:00:00Z"}]"#)
            try await test.until { try test.store.setting("signals:events /log") != nil }
            try test.upstream.set("/parts", #"[{"id":"p"}]"#)
            test.upstream.failList("/log", .gone(status: 410, "expired"))
            try await test.until { try test.store.setting("signals:events /log") == "" }
            try await test.until { try test.record("p", "parts") != nil }
        }
    }

    @Test(
        "a stream whose last id is refused, or brings too much, is opened again without it",
        arguments: [UpstreamError.refused(status: 400, "no such event"), .malformed("too many events")])
    func refusedID(_ error: UpstreamError) async throws {
        try await running { test in
            try await takeIn("a", test)
            test.upstream.streams.fail(error, times: 1)
            test.upstream.streams.end()
            try await test.until(step: .milliseconds(50)) { test.upstream.streams.isOpen }
            #expect(test.upstream.streams.lastEvents == ["", "7", ""])
        }
    }

    @Test("webhooks only tell the engine what to read")
    func webhooks() async throws {
        let source = "webhook: { path: /h, signature: { header: X }, entity: orders, key: id }"
        try await running(source) { test in
            try test.upstream.set("/orders", Self.orders("one", "changed"))
            let hook = try #require(test.store.schema.upstream.signals.first)
            test.engine.take(.object(["id": "b", "notes": "forged"]), from: hook)
            test.engine.refuseSignal(from: hook)
            try await test.until(step: .milliseconds(50)) { try notes("b", test) == "changed" }
            #expect(test.measurements.all.contains(.signal(source: "webhook /h", .refused)))
            let status = try #require(test.engine.status().signals.first)
            #expect(status.isConnected == nil && status.lastSignalAt != nil)
        }
    }
}

import EntitySchema
import JSONText
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Signals", .timeLimit(.minutes(5)))
struct SignalTests {
    private static let sse = "sse: { path: /realtime, entity: { at: kind }, key: id }"

    private func engine(_ source: String = sse, _ lines: LogLines = LogLines()) throws -> TestEngine {
        try TestEngine(
            schema: TestEngine.shop.replacing(
                "  pagination: { style: page }", with: "  pagination: { style: page }\n  signals: [{ \(source) }]"),
            log: lines.logger)
    }

    /// An engine that has synced, with an open stream and two orders.
    private func running(
        _ source: String = sse, logging lines: LogLines = LogLines(), _ body: (TestEngine) async throws -> Void
    ) async throws {
        let test = try engine(source, lines)
        try test.upstream.set("/orders", Self.orders("one", "two"))
        try test.upstream.set("/orders/a/messages", "[]")
        try test.upstream.set("/orders/b/messages", "[]")
        try await test.running {
            try await test.until { await test.engine.status().lastSyncAt != nil }
            if source == Self.sse {
                try await test.until { test.upstream.streams.isOpen }
                // The pull for what was missed before the stream was open.
                try await pass(.seconds(3), test)
            }
            try await body(test)
        }
    }

    private static func orders(_ notes: String...) -> String {
        let records = zip(["a", "b"], notes).map { key, note in
            #"{"id":"\#(key)","notes":"\#(note)","updated_at":"2026-01-01T00:00:00Z"}"#
        }
        return "[\(records.joined(separator: ","))]"
    }

    private func say(_ id: String?, of kind: String = "orders", _ test: TestEngine) {
        let key = id.map { JSONText.string($0) } ?? .null
        test.upstream.streams.say(
            .event(StreamEvent(name: "message", data: .object(["kind": .string(kind), "id": key]), id: "7")))
    }

    /// Lets so much time pass in small steps.
    private func pass(_ duration: Duration, _ test: TestEngine) async throws {
        let end = test.clock.timestamp + duration
        try await test.until(step: .milliseconds(50)) { test.clock.timestamp >= end }
    }

    /// Returns when the condition holds, and lets no time pass.
    private func eventually(_ condition: () throws -> Bool) async throws {
        while try !condition() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Sends a signal, and returns a second after it was noticed.
    private func takeIn(_ id: String, _ test: TestEngine) async throws {
        say(id, test)
        try await test.until(step: .milliseconds(50)) { await test.engine.status().signals.first?.lastSignalAt != nil }
        try await pass(.seconds(1), test)
    }

    private func notes(_ key: String, _ test: TestEngine) throws -> String? { try test.record(key)?["notes"]?.string }

    // MARK: Reading

    @Test("a change upstream is visible within a second of its signal, by one read")
    func visible() async throws {
        try await running { test in
            let (pages, reads) = (test.upstream.pages.count, test.upstream.recordRequests)
            try test.upstream.set("/orders", Self.orders("one", "changed"))
            say("b", test)
            try await pass(.seconds(1), test)
            // All that it waits for has passed; what is left takes no time of this clock.
            try await eventually { try notes("b", test) == "changed" }
            #expect(test.upstream.recordRequests == reads + 1 && test.upstream.pages.count == pages)
        }
    }

    @Test("10,000 signals for one record are a few reads, the last of which sees the last change")
    func burst() async throws {
        try await running { test in
            let reads = test.upstream.recordRequests
            for _ in 1...5000 { say("b", test) }
            try test.upstream.set("/orders", Self.orders("one", "last"))
            for _ in 1...5000 { say("b", test) }
            try await pass(.seconds(3), test)
            // On a busy machine, the last ones are still being taken in.
            let end = test.clock.timestamp + .seconds(15)
            try await test.until(step: .milliseconds(50)) {
                try notes("b", test) == "last" || test.clock.timestamp >= end
            }
            #expect((1...3).contains(test.upstream.recordRequests - reads))
            #expect(try notes("b", test) == "last")
        }
    }

    @Test("signals for many records become one pull")
    func many() async throws {
        try await running { test in
            let (pages, reads) = (test.upstream.pages.count, test.upstream.recordRequests)
            for number in 1...5000 { say("x\(number)", test) }
            // On a busy machine, they are still being taken in when the time has passed.
            try await test.until(step: .milliseconds(50)) { test.upstream.pages.count > pages }
            try await pass(.seconds(3), test)
            #expect(test.upstream.recordRequests - reads <= 45)
            #expect((1...6).contains(test.upstream.pages.count - pages))
        }
    }

    @Test("without a key the entity is pulled, and an unknown entity causes nothing")
    func withoutKey() async throws {
        try await running { test in
            let (pages, reads) = (test.upstream.pages.count, test.upstream.recordRequests)
            say("a", of: "invoices", test)
            try await test.until(step: .milliseconds(50)) {
                test.measurements.all.contains(.signal(source: "sse /realtime", .unknown))
            }
            try await pass(.seconds(2), test)
            #expect(test.upstream.pages.count == pages && test.upstream.recordRequests == reads)
            try test.upstream.set("/parts", #"[{"id":"p"}]"#)
            say(nil, of: "parts", test)
            try await test.until(step: .milliseconds(50)) { try test.record("p", "parts") != nil }
            #expect(test.upstream.pages.dropFirst(pages).allSatisfy { $0.path == "/parts" })
        }
    }

    @Test("a record that signals say is new, and one of an entity that comes with its parents, arrive")
    func newRecords() async throws {
        try await running { test in
            try test.upstream.set("/parts", #"[{"id":"p"}]"#)
            say("p", of: "parts", test)
            try await test.until(step: .milliseconds(50)) { try test.record("p", "parts") != nil }
            let pages = test.upstream.pages.count
            say("m", of: "messages", test)
            try await test.until(step: .milliseconds(50)) {
                test.upstream.pages.dropFirst(pages).contains { $0.path == "/orders" }
            }
        }
    }

    @Test("the signal of a deletion deletes the record once its absence is confirmed")
    func deletion() async throws {
        try await running { test in
            try test.upstream.set("/orders", Self.orders("one"))
            say("b", test)
            try await test.until(step: .milliseconds(50)) { try test.record("b") == nil }
            #expect(try test.record("a") != nil)
        }
    }

    @Test("while all records are hidden, signals delete nothing")
    func hidden() async throws {
        try await running { test in
            test.upstream.hideRecords(true)
            try test.upstream.set("/orders", "[]")
            for key in ["a", "b"] { say(key, test) }
            try await pass(.seconds(5), test)
            #expect(try test.record("a") != nil && test.record("b") != nil)
        }
    }

    @Test("a run that signals cause does not put off the next one for everything")
    func nextSync() async throws {
        try await running { test in
            let next = await test.engine.status().nextSyncAt
            for _ in 1...5 {
                say(nil, test)
                try await pass(.seconds(3), test)
            }
            #expect(await test.engine.status().nextSyncAt == next)
        }
    }

    // MARK: Health

    @Test("while offline nothing is read, and what signals named is pulled when the upstream is back")
    func offline() async throws {
        try await running { test in
            test.upstream.setOffline(true)
            await test.engine.requestSync(SyncRequest())
            try await test.until { await !test.engine.status().isReachable }
            let (pages, reads) = (test.upstream.pages.count, test.upstream.recordRequests)
            try test.upstream.set("/orders", Self.orders("one", "meanwhile"))
            say("b", test)
            try await pass(.seconds(5), test)
            #expect(test.upstream.pages.count == pages && test.upstream.recordRequests == reads)
            test.upstream.setOffline(false)
            try await test.until { try notes("b", test) == "meanwhile" }
        }
    }

    @Test("a paused engine reads nothing, and pulls what signals named once it is resumed")
    func paused() async throws {
        try await running { test in
            await test.engine.pause()
            let (pages, reads) = (test.upstream.pages.count, test.upstream.recordRequests)
            try test.upstream.set("/orders", Self.orders("one", "meanwhile"))
            say("b", test)
            for _ in 1...20 {
                test.clock.advance(by: .seconds(1))
                for _ in 1...50 { await Task.yield() }
            }
            #expect(test.upstream.pages.count == pages && test.upstream.recordRequests == reads)
            await test.engine.resume()
            try await test.until { try notes("b", test) == "meanwhile" }
        }
    }

    // MARK: Own writes

    @Test("a signal during the push of the same record shows no earlier value")
    func duringPush() async throws {
        try await running { test in
            let seen = Mutex<Set<String>>([])
            test.upstream.onPush {
                let reads = test.upstream.recordRequests
                // The upstream still has the value of before.
                self.say("b", test)
                for _ in 1...10_000 where test.upstream.recordRequests == reads { await Task.yield() }
                for _ in 1...100 { await Task.yield() }
                let note = (try? self.notes("b", test)) ?? nil
                seen.withLock { _ = $0.insert(note ?? "none") }
            }
            try await test.change("b", #"{"notes":"mine"}"#)
            test.engine.noteLocalWrite()
            try await test.until(step: .milliseconds(50)) {
                seen.withLock { _ = $0.insert((try? notes("b", test)) ?? nil ?? "none") }
                return try test.store.pendingCount().pending == 0
            }
            // A read that is behind, after the acknowledgement.
            try test.upstream.set("/orders", Self.orders("one", "two"))
            say("b", test)
            try await pass(.seconds(2), test)
            seen.withLock { _ = $0.insert((try? notes("b", test)) ?? nil ?? "none") }
            #expect(seen.withLock { $0 } == ["mine"])
            #expect(test.upstream.pushes.count == 1)
            #expect(try test.store.summary().openConflicts == 0)
        }
    }

    // MARK: Sources

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
            #expect(await test.engine.status().isReachable)
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
            #expect(await test.engine.status().signals.first?.error == nil)
        }
    }

    private func statusBecomes(connected: Bool, _ test: TestEngine) async throws -> Bool {
        try await test.until(step: .milliseconds(10)) {
            await test.engine.status().signals.first?.isConnected == connected
        }
        return await test.engine.status().signals.map(\.path) == ["/realtime"]
    }

    @Test("events of a list are read from where the last poll ended, also after a restart")
    func events() async throws {
        let source =
            "events: { path: /log, records: data, since: { param: from, greatest: updated_at }, entity: orders, key: id, every: 10s }"
        let store = Mutex<CacheStore?>(nil)
        try await running(source) { test in
            store.withLock { $0 = test.store }
            try test.upstream.set("/log", #"[{"id":"b","updated_at":"2026-01-02T00:00:00Z"}]"#)
            try test.upstream.set("/orders", Self.orders("one", "changed"))
            try await test.until { try notes("b", test) == "changed" }
            try await test.until { try test.store.setting("signals:events /log") == "2026-01-02T00:00:00Z" }
            let reads = test.upstream.recordRequests
            try await pass(.seconds(40), test)
            // The last event is listed again each time.
            #expect(test.upstream.recordRequests == reads)
            #expect(await test.engine.status().signals.first?.isConnected == true)
        }
        let kept = try #require(store.withLock { $0 })
        #expect(try kept.setting("signals:events /log") == "2026-01-02T00:00:00Z")
    }

    @Test("where a list of events was read to is stored only once what they name was read")
    func unreadEvents() async throws {
        let source =
            "events: { path: /log, records: data, since: { param: from, greatest: updated_at }, entity: orders, key: id, every: 10s }"
        try await running(source) { test in
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
            try await test.until { await test.engine.status().signals.first?.error == "broken" }
            try await pass(.seconds(120), test)
            let status = await test.engine.status()
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
            try await test.until { await test.engine.status().signals.first?.error == "broken" }
            let repaired = test.clock.timestamp + .seconds(500)
            try await test.until { test.clock.timestamp >= repaired }
            test.upstream.failList("/log", nil)
            try await test.until { await test.engine.status().signals.first?.isConnected == true }
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
            let status = try #require(await test.engine.status().signals.first)
            #expect(status.isConnected == nil && status.lastSignalAt != nil)
        }
    }
}

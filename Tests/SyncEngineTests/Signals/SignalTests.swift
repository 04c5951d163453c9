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
    static let sse = "sse: { path: /realtime, entity: { at: kind }, key: id }"

    func engine(_ source: String = sse, _ lines: LogLines = LogLines()) throws -> TestEngine {
        try TestEngine(
            schema: TestEngine.shop.replacing(
                "  pagination: { style: page }", with: "  pagination: { style: page }\n  signals: [{ \(source) }]"),
            log: lines.logger)
    }

    /// An engine that has synced, with an open stream and two orders.
    func running(
        _ source: String = sse, logging lines: LogLines = LogLines(), _ body: (TestEngine) async throws -> Void
    ) async throws {
        let test = try engine(source, lines)
        try test.upstream.set("/orders", Self.orders("one", "two"))
        try test.upstream.set("/orders/a/messages", "[]")
        try test.upstream.set("/orders/b/messages", "[]")
        try await test.running {
            try await test.until { test.engine.status().lastSyncAt != nil }
            if source == Self.sse {
                try await test.until { test.upstream.streams.isOpen }
                // The pull for what was missed before the stream was open.
                try await pass(.seconds(3), test)
            }
            try await body(test)
        }
    }

    static func orders(_ notes: String...) -> String {
        let records = zip(["a", "b"], notes).map { key, note in
            #"{"id":"\#(key)","notes":"\#(note)","updated_at":"2026-01-01T00:00:00Z"}"#
        }
        return "[\(records.joined(separator: ","))]"
    }

    func say(_ id: String?, of kind: String = "orders", _ test: TestEngine) {
        let key = id.map { JSONText.string($0) } ?? .null
        test.upstream.streams.say(
            .event(StreamEvent(name: "message", data: .object(["kind": .string(kind), "id": key]), id: "7")))
    }

    /// Lets so much time pass in small steps.
    func pass(_ duration: Duration, _ test: TestEngine) async throws {
        let end = test.clock.timestamp + duration
        try await test.until(step: .milliseconds(50)) { test.clock.timestamp >= end }
    }

    /// Returns when the condition holds, and lets no time pass.
    func eventually(_ condition: () throws -> Bool) async throws {
        while try !condition() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Sends a signal, and returns a second after it was noticed.
    func takeIn(_ id: String, _ test: TestEngine) async throws {
        say(id, test)
        try await test.until(step: .milliseconds(50)) { test.engine.status().signals.first?.lastSignalAt != nil }
        try await pass(.seconds(1), test)
    }

    func notes(_ key: String, _ test: TestEngine) throws -> String? { try test.record(key)?["notes"]?.string }

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
            let next = test.engine.status().nextSyncAt
            for _ in 1...5 {
                say(nil, test)
                try await pass(.seconds(3), test)
            }
            #expect(test.engine.status().nextSyncAt == next)
        }
    }

    // MARK: Health

    @Test("while offline nothing is read, and what signals named is pulled when the upstream is back")
    func offline() async throws {
        try await running { test in
            test.upstream.setOffline(true)
            await test.engine.requestSync(SyncRequest())
            try await test.until { !test.engine.status().isReachable }
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
}

import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore
@testable import SyncEngine

@Suite("Where a list of events was read to")
struct EventPlaceTests {
    private static let place = "signals:events /log"
    private static let log = """
        [{"id":"b","updated_at":"2026-01-02T00:00:00Z"},{"id":"b","updated_at":"9999-12-31T23:59:59Z"}]
        """

    /// An engine that knows the server's time and has two orders; its events are at `/log`.
    private func engine(greatest: String) throws -> TestEngine {
        let source = "path: /log, since: { param: from, greatest: \(greatest) }, entity: orders, key: id, every: 10s"
        let test = try TestEngine(
            schema: TestEngine.shop.replacing(
                "  pagination: { style: page }",
                with: "  pagination: { style: page }\n  signals: [{ events: { \(source) } }]"),
            clockOffset: { .zero })
        try test.upstream.set("/orders", #"[{"id":"a"},{"id":"b"}]"#)
        try test.upstream.set("/orders/a/messages", "[]")
        try test.upstream.set("/orders/b/messages", "[]")
        return test
    }

    @Test("an event that claims a time in the future does not move it")
    func futureEvent() async throws {
        let test = try engine(greatest: "updated_at")
        try test.upstream.set("/log", Self.log)
        try await test.running {
            try await test.until { try test.store.setting(Self.place) == "2026-01-02T00:00:00Z" }
            let polls = test.upstream.pages.count { $0.path == "/log" }
            try await test.until { test.upstream.pages.count { $0.path == "/log" } > polls + 2 }
            #expect(try test.store.setting(Self.place) == "2026-01-02T00:00:00Z")
        }
    }

    @Test("a place in the future, from an earlier process, is given up")
    func futurePlace() async throws {
        let test = try engine(greatest: "updated_at")
        try await test.store.setSetting(Self.place, to: "9999-12-31T23:59:59Z")
        try test.upstream.set("/log", Self.log)
        try await test.running {
            try await test.until { try test.store.setting(Self.place) == "2026-01-02T00:00:00Z" }
        }
    }

    @Test("the events begin at one that comes with an error, and what may have changed before is pulled")
    func renewedPlace() async throws {
        let source = "path: /log, since: { param: sync, next: sync, expired: 412 }, entity: parts, key: id, every: 10s"
        let test = try TestEngine(
            schema: TestEngine.shop.replacing(
                "  pagination: { style: page }",
                with: "  pagination: { style: page }\n  signals: [{ events: { \(source) } }]"))
        var parts: [JSONText] = []
        func add(_ key: String) throws {
            parts.append(.object(["id": .string(key)]))
            try test.upstream.set("/parts", JSONText.array(parts).text)
        }
        try add("first")
        try await test.running {
            try await test.until { try test.record("first", "parts") != nil }
            for token in ["s1", "s2"] {
                try add("before-\(token)")
                test.upstream.renew("/log", token)
                try await test.until { try test.store.setting(Self.place) == token }
                try await test.until { try test.record("before-\(token)", "parts") != nil }
            }
            try add("p")
            try test.upstream.set("/log", #"[{"id":"p"}]"#)
            try await test.until { try test.record("p", "parts") != nil }
            try await test.until { test.engine.status().signals.first?.isConnected == true }
        }
    }

    @Test("an error is reported if the upstream does not know one that it just sent, until it knows one")
    func uselessPlace() async throws {
        let source = "path: /log, since: { param: sync, next: sync, expired: 412 }, entity: parts, key: id, every: 10s"
        let test = try TestEngine(
            schema: TestEngine.shop.replacing(
                "  pagination: { style: page }",
                with: "  pagination: { style: page }\n  signals: [{ events: { \(source) } }]"))
        let tokens = Counter()
        test.upstream.onPage { [upstream = test.upstream] in upstream.renew("/log", "s\(tokens.next())") }
        try await test.running {
            try await test.until { test.engine.status().signals.first?.error?.contains("/log") == true }
            test.upstream.onPage {}
            try await test.until { test.engine.status().signals.first?.isConnected == true }
        }
    }

    @Test("one that was found in another way than the schema says now is given up")
    func otherPlace() async throws {
        let test = try engine(greatest: "updated_at")
        try await test.store.setSetting(Self.place, to: "8812")
        try await test.store.setSetting("since:events /log", to: "last after id")
        try test.upstream.set("/log", #"[{"id":"b","updated_at":"2026-01-02T00:00:00Z"}]"#)
        try await test.running {
            try await test.until { try test.store.setting(Self.place) == "2026-01-02T00:00:00Z" }
            #expect(test.upstream.pages.allSatisfy { $0.path != "/log" || $0.since?.value != "8812" })
        }
        let kept = try TestEngine(upstream: test.upstream, store: test.store)
        try await kept.running {
            let polls = test.upstream.pages.count { $0.path == "/log" }
            try await kept.until { test.upstream.pages.count { $0.path == "/log" } > polls }
            #expect(test.upstream.pages.last { $0.path == "/log" }?.since?.value == "2026-01-02T00:00:00Z")
        }
    }

    @Test("a page of as many events of one time as it can have is reported, and what others are about is pulled")
    func standstill() async throws {
        let source = "path: /log, since: { param: from, greatest: updated_at }, entity: parts, key: id, every: 10s"
        let test = try TestEngine(
            upstream: FakeUpstream(pageSize: 10),
            schema: TestEngine.shop.replacing(
                "  pagination: { style: page }",
                with: "  pagination: { style: page }\n  signals: [{ events: { \(source) } }]"))
        let parts = JSONText.array((1...11).map { .object(["id": .string("p\($0)")]) })
        let events = (1...11).map { #"{"id":"p\#($0)","updated_at":"2026-01-02T00:00:00Z"}"# }.joined(separator: ",")
        try await test.running {
            try await test.until { test.engine.status().signals.first?.isConnected == true }
            let began = test.clock.timestamp
            try test.upstream.set("/parts", parts.text)
            try test.upstream.set("/log", "[\(events)]")
            try await test.until { try test.record("p11", "parts") != nil }
            #expect(test.clock.timestamp.since(began) < .seconds(600), "no sync was due")
            try await test.until { test.engine.status().signals.first?.error?.contains("all 10 events") == true }
            func count(_ path: String) -> Int { test.upstream.pages.count { $0.path == path } }
            // By then what the ten events name is pulled as well.
            let first = count("/log")
            try await test.until { count("/log") > first + 10 }
            let (pulls, polls) = (count("/parts"), count("/log"))
            try await test.until { count("/log") > polls + 5 }
            #expect(count("/parts") == pulls, "it is pulled once")
            try test.upstream.set("/log", #"[{"id":"p1","updated_at":"2026-01-03T00:00:00Z"}]"#)
            try await test.until { test.engine.status().signals.first?.isConnected == true }
        }
    }

    @Test("a value that no URL has room for does not move it")
    func longValue() async throws {
        let test = try engine(greatest: "mark")
        let long = String(repeating: "z", count: 9000)
        try test.upstream.set("/log", #"[{"id":"a","mark":"m"},{"id":"b","mark":"\#(long)"}]"#)
        try await test.running {
            try await test.until { try test.store.setting(Self.place) == "m" }
        }
    }

    @Test("a long number is not read again for each event that is compared with it", .timeLimit(.minutes(10)))
    func longNumber() async throws {
        let test = try engine(greatest: "mark")
        let long = String(repeating: "9", count: 8000)
        let events = (0..<2000).map { #"{"id":"a","mark":\#($0)}"# }.joined(separator: ",")
        try test.upstream.set("/log", #"[{"id":"a","mark":\#(long)},\#(events)]"#)
        try await test.running {
            try await test.until { try test.store.setting(Self.place) == long }
        }
    }
}

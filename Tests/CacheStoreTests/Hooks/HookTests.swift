import EntitySchema
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Events for hooks")
struct HookTests {
    private static let ready = HookRule(
        name: "label", events: [.created, .changed], entity: "orders",
        conditions: [HookRule.Condition(field: "status", values: ["ready"])])
    private static let all = HookRule(
        name: "all", events: HookEvent.named.filter { !$0.isOfUpstream }, entity: "orders")
    private static let link = HookRule(name: "link", events: [.offline, .online])

    private func cache(_ hooks: [HookRule], in folder: TemporaryFolder? = nil) async throws -> TestCache {
        let cache = try TestCache(in: folder, hooks: hooks)
        try await cache.store.startHooks()
        return cache
    }

    /// What the hook is told of after `position`, as `event key`.
    private func told(_ rule: HookRule, _ cache: TestCache, after position: Int64 = 0) throws -> [String] {
        var (position, told): (Int64, [String]) = (position, [])
        while true {
            let scan = try cache.store.nextOccurrence(for: rule, after: position, at: TestCache.now)
            position = scan.position
            if let found = scan.occurrence { told.append("\(found.event.rawValue) \(found.key ?? "-")") }
            guard scan.hasMore else { return told }
        }
    }

    private func occurrence(_ rule: HookRule, _ cache: TestCache) throws -> HookOccurrence {
        try #require(try cache.store.nextOccurrence(for: rule, after: 0, at: TestCache.now).occurrence)
    }

    private func state(_ name: String, _ cache: TestCache) throws -> HookState {
        try #require(try cache.store.hookState(name))
    }

    private func edit(_ cache: TestCache, _ key: String, _ status: JSONText) async throws {
        try await cache.store.update("orders", key: key, body: .object(["status": status]), at: TestCache.now)
    }

    // MARK: Which events

    @Test
    func `pulled records are created, changed and deleted, and the same record again is nothing`() async throws {
        let cache = try await cache([Self.all])
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"x"},{"id":"b"}]"#)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"y"},{"id":"b"}]"#)
        _ = try await cache.pull("orders", #"[{ "notes":"y", "id":"a" }]"#)
        _ = try await cache.pull("orders", #"[{"id":"b","deleted_at":"2026-11-21T10:42:00Z"}]"#)
        #expect(try told(Self.all, cache) == ["created a", "created b", "changed a", "deleted b"])
    }

    @Test
    func `hooks are told what a page did to many large records, even if not all fit into memory`() async throws {
        let cache = try await cache([Self.all, Self.ready])
        let large = String(repeating: "x", count: 3 << 20)
        func page(_ status: String, _ text: String) -> String {
            let records = (0..<9).map { #"{"id":"\#($0)","status":"\#($0 == 1 ? status : "open")","more":"\#(text)"}"# }
            return "[\(records.joined(separator: ","))]"
        }
        _ = try await cache.pull("orders", page("open", large))
        let position = try cache.store.position()
        _ = try await cache.pull("orders", page("ready", "small"))
        #expect(try told(Self.all, cache, after: position) == (0..<9).map { "changed \($0)" })
        #expect(try told(Self.ready, cache, after: position) == ["changed 1"])
    }

    @Test
    func `a local write is told once, and not again when the server has it`() async throws {
        let cache = try await cache([Self.all])
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open"}]"#)
        try await edit(cache, "a", "ready")
        _ = try await cache.pull("orders", #"[{"id":"a","status":"ready"}]"#)
        #expect(try told(Self.all, cache) == ["created a", "changed a"])
    }

    @Test
    func `a condition is told when it becomes true, not while it stays true`() async throws {
        let cache = try await cache([Self.ready])
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open"},{"id":"b","status":"ready"}]"#)
        try await edit(cache, "a", "ready")
        try await cache.store.update("orders", key: "a", body: .object(["notes": "x"]), at: TestCache.now)
        try await edit(cache, "a", "open")
        try await edit(cache, "a", "ready")
        #expect(try told(Self.ready, cache) == ["created b", "changed a", "changed a"])
    }

    @Test
    func `hooks are told of a refused change unless an edit behind it corrects it`() async throws {
        let rule = HookRule(name: "failed", events: [.changeFailed], entity: "orders")
        let cache = try await cache([rule])
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        try await cache.store.update("orders", key: "a", body: .object(["notes": "bad"]), at: TestCache.now)
        for isCorrected in [true, false] {
            let change = try await cache.begun()
            if isCorrected {
                try await cache.store.update("orders", key: "a", body: .object(["notes": "x"]), at: TestCache.now)
            }
            let refusal = PushFailure(.refused, status: 422, message: "no")
            try await cache.store.finish(change.id, .failed(refusal), at: TestCache.now)
            #expect(try told(rule, cache) == (isCorrected ? [] : ["change_failed a"]))
        }
    }

    @Test
    func `a write that is undone alone tells nothing`() async throws {
        let cache = try await cache([Self.all])
        let keys = ["x", "a", "x"]
        _ = try await cache.store.write(at: TestCache.now) { transaction in
            try transaction.each(keys.count) { before -> String? in
                let key = keys[before.count]
                let made = try transaction.create("orders", .object(["id": .string(key)]))
                guard key != "x" else { throw CacheError.conflict("no") }
                return made
            } refused: { _, _ in
                nil
            }
        }
        #expect(try told(Self.all, cache) == ["created a"])
    }

    @Test(arguments: [false, true])
    func `a write that is undone alone does not take back what the others tell`(changesFirst: Bool) async throws {
        let cache = try await cache([Self.all])
        let keys = ["a", "x", "b"]
        _ = try await cache.store.write(at: TestCache.now) { transaction in
            try transaction.each(keys.count) { before -> String? in
                let key = keys[before.count]
                if key == "x", !changesFirst { throw CacheError.conflict("no") }
                let made = try transaction.create("orders", .object(["id": .string(key)]))
                if key == "x" { throw CacheError.conflict("no") }
                return made
            } refused: { _, _ in
                nil
            }
        }
        #expect(try told(Self.all, cache) == ["created a", "created b"])
    }

    @Test
    func `a write that is undone alone takes back only its own part of what is told of a record`() async throws {
        let cache = try await cache([Self.all, Self.ready])
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open"},{"id":"b","status":"open"}]"#)
        let end = try cache.store.position()
        let writes = [("a", "ready"), ("a", "open"), ("b", "ready")]
        _ = try await cache.store.write(at: TestCache.now) { transaction in
            try transaction.each(writes.count) { before -> Bool in
                let (key, status) = writes[before.count]
                try transaction.update("orders", key: key, .object(["status": .string(status)]))
                guard status == "ready" else { throw CacheError.conflict("no") }
                return true
            } refused: { _, _ in
                false
            }
        }
        #expect(try told(Self.ready, cache, after: end) == ["changed a", "changed b"])
    }

    @Test
    func `a write that is undone alone after the notes were full takes back nothing of the others`() async throws {
        let cache = try await cache([Self.all])
        let large = JSONText.string(String(repeating: "x", count: 100_000))
        // The notes are full at the 42nd.
        let (count, undone) = (44, 41)
        _ = try await cache.store.write(at: TestCache.now) { transaction in
            try transaction.each(count) { before -> Bool in
                _ = try transaction.create("orders", .object(["id": .string("n\(before.count)"), "notes": large]))
                guard before.count != undone else { throw CacheError.conflict("no") }
                return true
            } refused: { _, _ in
                false
            }
        }
        let others = (0..<count).filter { $0 != undone }
        #expect(try told(Self.all, cache) == others.map { "created n\($0)" })
    }

    @Test
    func `a record that a batch writes twice is told once, as it is after the batch`() async throws {
        let cache = try await cache([Self.all, Self.ready])
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open"}]"#)
        let end = try cache.store.position()
        try await cache.store.write(at: TestCache.now) { (transaction) throws -> Void in
            _ = try transaction.create("orders", .object(["id": "n", "status": "open"]))
            try transaction.update("orders", key: "n", .object(["notes": "x"]))
            try transaction.update("orders", key: "a", .object(["status": "ready"]))
            try transaction.update("orders", key: "a", .object(["status": "open", "notes": "y"]))
        }
        #expect(try told(Self.all, cache, after: end) == ["created n", "changed a"])
        #expect(try told(Self.ready, cache, after: end) == [])
    }

    @Test
    func `a large record that a batch writes many times is told once`() async throws {
        let cache = try await cache([Self.all])
        let large = String(repeating: "x", count: 100_000)
        try await cache.store.write(at: TestCache.now) { (transaction) throws -> Void in
            _ = try transaction.create("orders", .object(["id": "n"]))
            for number in 0..<60 {
                try transaction.update("orders", key: "n", .object(["notes": .string("\(number) \(large)")]))
            }
        }
        #expect(try told(Self.all, cache) == ["created n"])
    }

    @Test
    func `the first pull of an entity tells nothing`() async throws {
        let cache = try await cache([Self.all])
        var page = PulledPage(entity: "orders", records: #"[{"id":"a"}]"#)
        page.began = 0
        _ = try await cache.store.apply(page, at: TestCache.now)
        #expect(try told(Self.all, cache) == [])
    }

    @Test
    func `a change that fails is told, with its number`() async throws {
        let cache = try await cache([Self.all])
        _ = try await cache.pull("orders", #"[{"id":"a","status":"open"}]"#)
        try await edit(cache, "a", "ready")
        try await cache.send(.failed(PushFailure(.refused, status: 422, message: "no")))
        #expect(try told(Self.all, cache).last == "change_failed a")
    }

    @Test
    func `a conflict is told, and which it is`() async throws {
        let rule = HookRule(name: "c", events: [.conflict], entity: "orders")
        let cache = try await cache([rule])
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"n"}]"#)
        try await cache.store.update("orders", key: "a", body: .object(["notes": "mine"]), at: TestCache.now)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs","updated_at":"2026-11-21T10:50:00Z"}]"#)
        let found = try occurrence(rule, cache)
        #expect(found.event == .conflict && found.key == "a" && found.conflict == 1)
    }

    @Test
    func `offline and online are told when they change, and being online at first is no event`() async throws {
        let cache = try await cache([Self.link])
        for isReachable in [true, true, false, false, true] {
            try await cache.store.noteReachable(isReachable, at: TestCache.now)
        }
        #expect(try told(Self.link, cache) == ["offline -", "online -"])
    }

    @Test
    func `watchers and the history do not see the entries of hooks`() async throws {
        let cache = try await cache([Self.all])
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        #expect(try cache.store.changes(since: 0, limit: 9).events.map(\.kind) == ["upserted"])
        #expect(try cache.store.history(of: "orders", key: "a", after: 0, limit: 9).entries.count == 1)
    }

    @Test
    func `a write that is undone tells nothing`() async throws {
        struct Undo: Error {}
        let cache = try await cache([Self.all])
        await #expect(throws: Undo.self) {
            try await cache.store.write(at: TestCache.now) { (transaction) throws -> Void in
                _ = try transaction.create("orders", .object(["notes": "x"]))
                throw Undo()
            }
        }
        #expect(try told(Self.all, cache) == [])
    }

    // MARK: Positions

    @Test
    func `a new hook starts at the end of the log, a known one where it was`() async throws {
        let cache = try await cache([Self.all])
        _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
        let end = try cache.store.position()
        try cache.store.close()
        let both = try await self.cache([Self.all, Self.ready], in: cache.folder)
        #expect(try state("all", both).position == 0)
        #expect(try state("label", both).position == end)
    }

    @Test
    func `a hook that the configuration no longer has is forgotten`() async throws {
        let both = try await self.cache([Self.all, Self.ready])
        try both.store.close()
        let one = try await self.cache([Self.ready], in: both.folder)
        #expect(try one.store.hookStates().map(\.name) == ["label"])
    }

    @Test
    func `a delivery moves the position, a failed one waits, a parked one is kept with its reason`() async throws {
        let cache = try await cache([Self.all])
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        let first = try occurrence(Self.all, cache)
        let later = TestCache.now + .seconds(2)
        try await cache.store.finishHook("all", first, .failed("no paper", retryAt: later), at: TestCache.now)
        let waiting = try state("all", cache)
        #expect(waiting.attempts == 1 && waiting.nextAt == later && waiting.error == "no paper")
        try await cache.store.finishHook("all", first, .parked("no paper"), at: TestCache.now)
        let past = try state("all", cache)
        #expect(past.position == first.seq && past.parked == 1 && past.attempts == 0)
        try await cache.store.write(at: TestCache.now) { try $0.retryHook("all", nil) }
        let parked = try #require(try cache.store.parkedToRetry("all"))
        #expect(parked.occurrence == first && parked.reason == "no paper" && parked.attempts == 2)
        try await cache.store.finishParked("all", parked, problem: nil, at: TestCache.now)
        let done = try state("all", cache)
        #expect(done.parked == 0 && done.delivered == 1)
    }

    @Test
    func `an outcome of an event that was skipped meanwhile changes nothing`() async throws {
        let cache = try await cache([Self.all])
        _ = try await cache.pull("orders", #"[{"id":"a"},{"id":"b"}]"#)
        let first = try occurrence(Self.all, cache)
        try await cache.store.finishHook("all", first, .failed("no", retryAt: TestCache.now), at: TestCache.now)
        try await cache.store.write(at: TestCache.now) { try $0.skipHook("all") }
        try await cache.store.finishHook("all", first, .parked("no"), at: TestCache.now)
        let skipped = try state("all", cache)
        #expect(skipped.position == first.seq && skipped.parked == 0)
        await #expect(throws: CacheError.self) {
            try await cache.store.write(at: TestCache.now) { try $0.skipHook("all") }
        }
    }

    @Test
    func `numbers that no entry has are passed at once, however many there are`() async throws {
        let cache = try await cache([Self.all])
        for key in ["a", "b"] { _ = try await cache.pull("orders", "[{\"id\":\"\(key)\"}]") }
        let gap: Int64 = 1 << 52
        try await cache.store.writer.write { db in
            try db.execute(
                sql: "UPDATE sync_change_log SET seq = seq + ? WHERE seq >= (SELECT max(seq) - 1 FROM sync_change_log)",
                arguments: [gap])
        }
        let first = try occurrence(Self.all, cache)
        #expect(first.key == "a")
        let next = try cache.store.nextOccurrence(for: Self.all, after: first.seq, at: TestCache.now)
        #expect(next.occurrence?.key == "b" && next.position > gap)
    }

    // MARK: Pruning

    @Test
    func `pruning keeps what a hook has not had up to twice the limits, then the hook is told what it missed`()
        async throws
    {
        let cache = try await cache([Self.all])
        for number in 0..<6 { _ = try await cache.pull("orders", "[{\"id\":\"k\(number)\"}]") }
        let end = try cache.store.position()
        func prune(_ count: Int) async throws {
            let limits = LogLimits(age: .seconds(86_400), count: count)
            while try await cache.store.pruneLog(to: limits, at: TestCache.now) > 0 {}
        }
        try await prune(Int(end) / 2)
        #expect(try told(Self.all, cache).count == 6)
        try await prune(2)
        let missed = try occurrence(Self.all, cache)
        #expect(missed.event == .missed && missed.missedFrom == 1 && missed.seq == end - 4)
        try await cache.store.moveHook("all", to: end)
        try await prune(2)
        #expect(try cache.store.nextOccurrence(for: Self.all, after: end, at: TestCache.now).occurrence == nil)
    }
}

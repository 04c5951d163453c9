import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("What a server makes of our values is no news")
struct NormalFormTests {
    private let now = TestCache.now

    private func cache(_ policy: String, _ record: String = #"{"id":"a","notes":"A","total":1}"#) async throws
        -> TestCache
    {
        try await .with(orders: "[\(record)]", conflict: policy)
    }

    private func acknowledge(_ cache: TestCache, _ change: OutboxChange, _ answer: String?) async throws {
        let record = try answer.map { try JSONText(parsing: $0) }
        try await cache.store.finish(change.id, .acknowledged(record: record), at: now)
    }

    private static let policies = ["manual", "server_wins", "local_wins", "last_write_wins"]

    @Test("#9 a server that trims, rounds and lower-cases makes no conflicts, in any policy", arguments: policies)
    func normalized(policy: String) async throws {
        let cache = try await cache(policy)
        try await cache.change("orders", "a", #"{"notes":"  Bob ","total":12.346}"#)
        let first = try await cache.begun()
        try await cache.change("orders", "a", #"{"notes":"  Carl ","total":9.999}"#)
        try await acknowledge(cache, first, #"{"id":"a","notes":"bob","total":"12.35"}"#)
        let second = try await cache.begun()
        #expect(second.body["notes"] == "  Carl ")
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"bob","total":12.35}]"#)
        try await acknowledge(cache, second, #"{"id":"a","notes":"carl","total":"10.00"}"#)
        #expect(try cache.record("orders", "a")?["notes"] == "carl")
        #expect(try cache.record("orders", "a")?["total"]?.text == #""10.00""#)
        #expect(try cache.store.pendingCount().pending == 0)
        #expect(try cache.conflictCount() == 0)
    }

    @Test("a server that answers text as it came, and lists it as HTML, makes no conflicts", arguments: policies)
    func escaped(policy: String) async throws {
        let cache = try await cache(policy)
        try await cache.change("orders", "a", #"{"notes":"A & B"}"#)
        let first = try await cache.begun()
        try await cache.change("orders", "a", #"{"notes":"A & C"}"#)
        try await acknowledge(cache, first, #"{"id":"a","notes":"A & B","total":1}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"A &amp; B","total":1}]"#)
        #expect(try cache.conflictCount() == 0)
        let second = try await cache.begun()
        #expect(second.body["notes"] == "A & C")
    }

    @Test(
        "a telephone number that the server writes with other separators makes no conflict after a lost answer",
        arguments: policies)
    func separated(policy: String) async throws {
        let cache = try await cache(policy)
        try await cache.change("orders", "a", #"{"notes":"(555) 123-4567"}"#)
        try await acknowledge(cache, try await cache.begun(), #"{"id":"a","notes":"5551234567","total":1}"#)
        try await cache.change("orders", "a", #"{"notes":"(555) 999-0000"}"#)
        let edit = try await cache.begun()
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(edit.id, .waiting(lost, at: now, counted: true), at: now)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"5559990000","total":1}]"#)
        #expect(try cache.conflictCount() == 0)
    }

    @Test(
        "a new record that the server answers as it came, and lists as HTML, makes no conflict with its next edit",
        arguments: policies)
    func createdAndEscaped(policy: String) async throws {
        let cache = try await cache(policy)
        let key = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"A & B"}"#), at: now)
        try await cache.send(answer: #"{"id":"\#(key)","notes":"A & B","total":1}"#)
        try await cache.change("orders", key, #"{"notes":"A & C"}"#)
        let edit = try await cache.begun()
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(edit.id, .waiting(lost, at: now, counted: true), at: now)
        _ = try await cache.pull("orders", #"[{"id":"\#(key)","notes":"A &amp; B","total":1}]"#)
        #expect(try cache.conflictCount() == 0)
        let again = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(again.body["notes"] == "A & C")
    }

    @Test("a record that shows as HTML what was sent is the created one, also if the server was never seen to write so")
    func lostCreation() async throws {
        let cache = try await cache("manual")
        _ = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"A & B"}"#), at: now)
        let creation = try await cache.begun()
        let entity = try #require(cache.store.schema["orders"])
        #expect(creation.isSaid(by: try JSONText(parsing: #"{"notes":"A &amp; B"}"#), of: entity, ["notes"]))
        #expect(!creation.isSaid(by: try JSONText(parsing: #"{"notes":"A &amp; C"}"#), of: entity, ["notes"]))
    }

    @Test("a text that others trimmed after the server had shown the change is their edit")
    func trimmedByOthers() async throws {
        let cache = try await cache("manual")
        try await cache.change("orders", "a", #"{"notes":" B "}"#)
        let first = try await cache.begun()
        try await cache.change("orders", "a", #"{"notes":"C"}"#)
        try await acknowledge(cache, first, #"{"id":"a","notes":" B ","total":1}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"B","total":1}]"#)
        #expect(try cache.conflictCount() == 1)
    }

    @Test("#9 a lost answer whose change the server has normalized is no conflict, and not sent again")
    func lostAnswer() async throws {
        for policy in Self.policies {
            let cache = try await cache(policy)
            try await cache.change("orders", "a", #"{"notes":" Bob "}"#)
            let change = try await cache.begun()
            let lost = PushFailure(.timeout, message: "no answer")
            try await cache.store.finish(change.id, .waiting(lost, at: now, counted: true), at: now)
            _ = try await cache.pull("orders", #"[{"id":"a","notes":"Bob","total":1}]"#)
            #expect(try cache.conflictCount() == 0, "\(policy)")
            let again = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
            let found = try JSONText(parsing: #"{"id":"a","notes":"Bob"}"#)
            let entity = try #require(cache.store.schema["orders"])
            #expect(again.isSaid(by: found, of: entity, ["notes"]))
        }
    }

    @Test("what a view makes of a change that was answered without its record is no conflict with the next one")
    func learnedFromView() async throws {
        for policy in Self.policies {
            let cache = try await cache(policy)
            try await cache.change("orders", "a", #"{"notes":" Bob "}"#)
            try await cache.send(answer: nil)
            try await cache.change("orders", "a", #"{"notes":" Carl "}"#)
            _ = try await cache.pull("orders", #"[{"id":"a","notes":"Bob","total":1}]"#)
            #expect(try cache.conflictCount() == 0, "\(policy)")
            #expect(try cache.record("orders", "a")?["notes"] == " Carl ")
        }
    }

    @Test("the first view may come long after the change, and still shows what became of it")
    func lateView() async throws {
        let cache = try await cache("manual")
        try await cache.change("orders", "a", #"{"notes":" Bob "}"#)
        try await cache.send(answer: nil)
        try await cache.change("orders", "a", #"{"notes":" Carl "}"#)
        let page = PulledPage(entity: "orders", records: #"[{"id":"a","notes":"Bob","total":1}]"#)
        _ = try await cache.store.apply(page, at: now + .seconds(600))
        #expect(try cache.conflictCount() == 0)
    }

    @Test("what a view makes of a creation that was answered with its key alone is no conflict with the next edit")
    func creationByKey() async throws {
        let cache = try await cache("manual")
        _ = try await cache.store.create("orders", body: JSONText(parsing: #"{"id":"b","notes":" Bob "}"#), at: now)
        try await cache.send(answer: #"{"id":"b"}"#)
        try await cache.store.update("orders", key: "b", body: JSONText(parsing: #"{"notes":" Carl "}"#), at: now)
        _ = try await cache.pull("orders", #"[{"id":"b","notes":"Bob"}]"#)
        #expect(try cache.conflictCount() == 0)
    }

    @Test("what a server made of a field that the schema lost meanwhile is no conflict either")
    func lostField() async throws {
        let before = try await cache("manual")
        try await before.change("orders", "a", #"{"notes":" Bob "}"#)
        let change = try await before.begun()
        let lost = PushFailure(.timeout, message: "no answer")
        try await before.store.finish(change.id, .waiting(lost, at: now, counted: true), at: now)
        let cache = try before.reopened(schema: TestCache.shop.replacing("      notes: { type: string }\n", with: ""))
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"Bob","total":1}]"#)
        #expect(try cache.conflictCount() == 0)
    }

    @Test("what a server made of the change before is older than the last one")
    func earlierForm() async throws {
        let cache = try await cache("manual")
        for notes in [" Bob ", " Carl "] {
            try await cache.change("orders", "a", #"{"notes":"\#(notes)"}"#)
            try await cache.send(answer: nil)
        }
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"Bob","total":1}]"#)
        #expect(try cache.record("orders", "a")?["notes"] == " Carl ")
    }

    @Test("a value that was never sent is not taken for the normal form of ours")
    func notSent() async throws {
        let cache = try await cache("manual")
        try await cache.change("orders", "a", #"{"notes":" Bob "}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"Bob","total":1}]"#)
        #expect(try cache.conflictCount() == 1)
    }

    @Test("#9 a form is remembered for its field, and a look-up compares by it")
    func remembered() async throws {
        let cache = try await cache("manual")
        try await cache.change("orders", "a", #"{"notes":"  B "}"#)
        try await cache.send(answer: #"{"id":"a","notes":"B","total":1}"#)
        let reopened = try cache.reopened(
            schema: TestCache.shop.replacing("  orders:\n", with: "  orders:\n    conflict: manual\n"))
        try await reopened.change("orders", "a", #"{"notes":" C","status":"open"}"#)
        let change = try #require(try reopened.store.readyChanges(limit: 1, at: now).first)
        let entity = try #require(reopened.store.schema["orders"])
        #expect(change.isSaid(by: try JSONText(parsing: #"{"notes":"C"}"#), of: entity, ["notes"]))
        #expect(!change.isSaid(by: try JSONText(parsing: #"{"status":"OPEN"}"#), of: entity, ["status"]))
    }

    @Test("#17 an open manual conflict closes when both sides agree by now")
    func agreement() async throws {
        let cache = try await cache("manual")
        try await cache.change("orders", "a", #"{"notes":"mine","total":2}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs","total":1}]"#)
        #expect(try cache.store.conflicts(before: nil, open: true, limit: 9).conflicts.count == 1)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"mine","total":1}]"#)
        #expect(try cache.store.conflicts(before: nil, open: true, limit: 9).conflicts.isEmpty)
        #expect(try cache.store.readyChanges(limit: 9, at: now).count == 1)
    }
}

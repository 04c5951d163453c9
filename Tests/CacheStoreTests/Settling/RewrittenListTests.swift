import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Lists, objects and texts that a server writes otherwise than they were sent")
struct RewrittenListTests {
    private static let schema = TestCache.shop
        .replacing("  orders:\n", with: "  orders:\n    conflict: manual\n")
        .replacing("      notes: {", with: "      tags: { type: list }\n      place: { type: object }\n      notes: {")

    private let now = TestCache.now

    private func cache(_ record: String, schema: String = RewrittenListTests.schema) async throws -> TestCache {
        let cache = try TestCache(schema: schema)
        _ = try await cache.pull("orders", "[\(record)]")
        return cache
    }

    /// An edit whose answer was lost, and another one behind it, if there is one.
    private func edited(_ cache: TestCache, _ body: String, then next: String?) async throws {
        try await cache.change("orders", "a", body)
        let change = try await cache.begun()
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(change.id, .waiting(lost, at: now, counted: true), at: now)
        if let next { try await cache.change("orders", "a", next) }
    }

    private func creation(_ body: String) async throws -> (OutboxChange, Entity) {
        let cache = try await cache(#"{"id":"a"}"#)
        _ = try await cache.store.create("orders", body: JSONText(parsing: body), at: now)
        return (try await cache.begun(), try #require(cache.store.schema["orders"]))
    }

    /// Whether a record with other tags may be the one that was made with these.
    private func mayBe(madeWith tags: String) async throws -> (String) throws -> Bool {
        let (creation, entity) = try await creation(#"{"notes":"A","tags":\#(tags)}"#)
        return { shown in
            creation.mayBe(try JSONText(parsing: #"{"notes":"A","tags":\#(shown)}"#), of: entity, ["notes", "tags"])
        }
    }

    private static let rewritten = [
        (#"["Zed","News"]"#, #"["zed","news"]"#),
        (#"["zed"," news "]"#, #"["News","Zed"]"#),
        (#"["Zed","News","zed"]"#, #"["Zed","News"]"#),
        (#"["Zed","News"]"#, #"[{"id":1,"name":"Zed","slug":"zed"},{"id":2,"name":"News","slug":"news"}]"#),
        (#"["Zed","News"]"#, #"[{"id":1,"name":"news"},{"id":2,"name":"zed"}]"#),
        (#"[7,9]"#, #"[{"id":7,"name":"seven"},{"id":9,"name":"nine"}]"#),
        (#"[{"name":"Zed "}]"#, #"[{"id":1,"name":"zed"}]"#),
    ]

    @Test("a list that the server rewrote is no conflict with the edit whose answer was lost", arguments: rewritten)
    func lostEdit(_ sent: String, _ shown: String) async throws {
        let cache = try await cache(#"{"id":"a","tags":[]}"#)
        try await edited(cache, #"{"tags":\#(sent)}"#, then: #"{"tags":["next"]}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","tags":\#(shown)}]"#)
        #expect(try cache.conflictCount() == 0)
        #expect(try cache.record("orders", "a")?["tags"]?.text == #"["next"]"#)
        let change = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        let entity = try #require(cache.store.schema["orders"])
        #expect(change.isSaid(by: try JSONText(parsing: #"{"tags":\#(shown)}"#), of: entity))
    }

    @Test(
        "a set that the server rewrote is not merged with itself",
        arguments: rewritten + [(#"[{"sku":"x"}]"#, #"[{"id":1,"sku":"x"}]"#)])
    func lostSet(_ sent: String, _ shown: String) async throws {
        let schema = Self.schema.replacing("tags: { type: list }", with: "tags: { type: list, merge: set }")
        let cache = try await cache(#"{"id":"a","tags":[]}"#, schema: schema)
        try await edited(cache, #"{"tags":\#(sent)}"#, then: #"{"notes":"N"}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","tags":\#(shown)}]"#)
        let body = try #require(try cache.store.readyChanges(limit: 1, at: now).first).body["tags"]
        #expect(try [sent, shown].map(JSONText.init(parsing:)).contains { $0 == body })
    }

    @Test(
        "an element that is taken out of a set stays out, whatever the server has made of the set that had it",
        arguments: [
            (#"["Red","blue "]"#, #"["blue","red"]"#, #"["blue "]"#),
            (#"["Red","Blue"]"#, #"[{"id":1,"name":"Red"},{"id":2,"name":"Blue"}]"#, #"["Blue","Green"]"#),
            (#"["a","b","c"]"#, #"["a","b"]"#, #"["b","c"]"#),
            (#"["a","b"]"#, #"["a"]"#, "[]"),
        ])
    func takenOutOfSet(_ sent: String, _ shown: String, _ next: String) async throws {
        let schema = Self.schema.replacing("tags: { type: list }", with: "tags: { type: list, merge: set }")
        let cache = try await cache(#"{"id":"a","tags":[]}"#, schema: schema)
        try await edited(cache, #"{"tags":\#(sent)}"#, then: #"{"tags":\#(next)}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","tags":\#(shown)}]"#)
        #expect(try cache.record("orders", "a")?["tags"]?.text == next)
        #expect(try cache.conflictCount() == 0)
    }

    @Test("a record with the list as the server writes it is the created one", arguments: rewritten)
    func lostCreation(_ sent: String, _ shown: String) async throws {
        let (creation, entity) = try await creation(#"{"notes":"A","tags":\#(sent)}"#)
        let record = try JSONText(parsing: #"{"notes":"A","tags":\#(shown)}"#)
        #expect(creation.isSaid(by: record, of: entity, ["notes", "tags"]))
    }

    private static let others = [
        (#"["Zed"]"#, #"["Zeb"]"#), (#"["Zed"]"#, #"["Zed","News"]"#),
        (#"["a"]"#, #"[{"name":"b","kind":"tag"}]"#), (#"["a","b"]"#, #"[{"name":"a"},{"slug":"b"}]"#),
        (#"[{"name":"a","kind":"tag"}]"#, #"[{"name":"b","kind":"tag"}]"#), (#"["a"]"#, "[[]]"),
    ]

    @Test("a list with other names is an edit by others", arguments: others)
    func otherNames(_ sent: String, _ shown: String) async throws {
        let cache = try await cache(#"{"id":"a","tags":[]}"#)
        try await edited(cache, #"{"tags":\#(sent)}"#, then: #"{"notes":"N"}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","tags":\#(shown)}]"#)
        #expect(try cache.conflictCount() == 1)
    }

    @Test("a record whose list lacks an element may be the created one, and one with another list is not")
    func droppedElement() async throws {
        let mayBe = try await mayBe(madeWith: #"["Zed","Unknown"]"#)
        #expect(try mayBe(#"["Zed"]"#))
        #expect(try mayBe(#"["zed"]"#))
        #expect(try mayBe("[]"))
        #expect(try !mayBe(#"["Other"]"#))
    }

    @Test("a record whose list lacks an object, and has another one filled in, may be the created one")
    func droppedObject() async throws {
        let mayBe = try await mayBe(madeWith: #"[{"sku":"x"},{"sku":"none"}]"#)
        #expect(try mayBe(#"[{"id":1,"sku":"x"}]"#))
        #expect(try !mayBe(#"[{"id":1,"sku":"y"}]"#))
    }

    @Test("a record whose object, or one in its list, has half of what was sent may be the created one")
    func halfOfAnObject() async throws {
        let sent = #"{"street":"1 High St","zip":"ls1","box":null}"#
        let (creation, entity) = try await creation(#"{"notes":"A","place":\#(sent)}"#)
        func mayBe(_ place: String) throws -> Bool {
            creation.mayBe(try JSONText(parsing: #"{"notes":"A","place":\#(place)}"#), of: entity, ["notes", "place"])
        }
        #expect(try mayBe(#"{"street":"1 High Street","zip":"LS1","country":"GB"}"#))
        #expect(try mayBe(#""1 High St, LS1""#))
        #expect(try !mayBe(#"{"street":"2 High St","zip":"LS2","box":null}"#))
        #expect(try !mayBe("null"))
        let line = try await self.mayBe(madeWith: #"[{"sku":"x","count":2,"price":1.005}]"#)
        #expect(try line(#"[{"id":5,"sku":"x","count":2,"price":1.01}]"#))
        #expect(try !line(#"[{"id":5,"sku":"y","count":2,"price":1.01}]"#))
    }

    @Test("a list with the same names is no news once the server was seen to rewrite one, and another case or order is")
    func learned() async throws {
        let cache = try await cache(#"{"id":"a","tags":[]}"#)
        try await cache.change("orders", "a", #"{"tags":["Zed","News"]}"#)
        try await cache.send(answer: #"{"id":"a","tags":[{"name":"Zed"},{"name":"News"}]}"#)
        try await edited(cache, #"{"tags":["B","A"]}"#, then: #"{"notes":"N"}"#)
        let change = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        let entity = try #require(cache.store.schema["orders"])
        func isSaid(_ tags: String) throws -> Bool {
            change.isSaid(by: try JSONText(parsing: #"{"tags":\#(tags)}"#), of: entity)
        }
        #expect(try isSaid(#"[{"name":"B"},{"name":"A"}]"#))
        #expect(try !isSaid(#"[{"name":"A"},{"name":"B"}]"#))
        #expect(try !isSaid(#"[{"name":"b"},{"name":"a"}]"#))
    }

    @Test(
        "an object that the server has filled in, spelled or merged is no conflict with the edit whose answer was lost",
        arguments: [
            #"{"city":"Leeds","country":"GB"}"#, #"{"city":"LEEDS"}"#, #"{"city":"Leeds","zip":"LS1"}"#,
        ])
    func filledObject(shown: String) async throws {
        let cache = try await cache(#"{"id":"a","place":{"city":"York","zip":"LS1"}}"#)
        try await edited(cache, #"{"place":{"city":"Leeds"}}"#, then: #"{"place":{"city":"Hull"}}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","place":\#(shown)}]"#)
        #expect(try cache.conflictCount() == 0)
        #expect(try cache.record("orders", "a")?["place"]?["city"] == "Hull")
    }

    @Test(
        "a deletion is no conflict with an edit before it whose answer was lost, whatever the server has made of that",
        arguments: [
            (#"{"tags":["Zed","News"]}"#, #""tags":["news","zed"]"#, true),
            (#"{"tags":null}"#, #""tags":[]"#, true),
            (#"{"place":{"city":"Leeds"}}"#, #""place":{"city":"Leeds","country":"GB"}"#, true),
            (#"{"notes":" N "}"#, #""notes":"N""#, true),
            (#"{"place":{"city":"Leeds"}}"#, #""place":{"city":"Bath","country":"GB"}"#, false),
            (#"{"notes":" N "}"#, #""notes":"N","place":{"city":"Bath"}"#, false),
        ])
    func deleted(_ sent: String, _ shown: String, isOurs: Bool) async throws {
        let cache = try await cache(#"{"id":"a","tags":["a"],"place":null,"notes":"n"}"#)
        try await edited(cache, sent, then: nil)
        try await cache.store.delete("orders", key: "a", at: now)
        _ = try await cache.pull("orders", #"[{"id":"a",\#(shown)}]"#)
        #expect(try (cache.conflictCount() == 0) == isOurs)
    }

    @Test("an object from which a member was only taken out, and that has it still, is an edit by others")
    func keptMember() async throws {
        let cache = try await cache(#"{"id":"a","place":{"city":"York","zip":"Y1"}}"#)
        try await edited(cache, #"{"place":{"city":"York"}}"#, then: #"{"notes":"N"}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","place":{"city":"York","zip":"Y1","country":"GB"}}]"#)
        #expect(try cache.conflictCount() == 1)
    }

    @Test("a text of names that the server has sorted is no conflict, and one with another name is", arguments: [0, 1])
    func sortedNames(conflicts: Int) async throws {
        let cache = try await cache(#"{"id":"a","notes":"a"}"#)
        try await edited(cache, #"{"notes":"zed,News"}"#, then: #"{"notes":"b, a"}"#)
        let shown = conflicts == 0 ? "News, zed" : "News, zed, other"
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"\#(shown)"}]"#)
        #expect(try (cache.conflictCount() > 0) == (conflicts > 0))
    }

    @Test(
        "a text that the server has cut is no conflict with the edit, unless what is left was there before or is short",
        arguments: [
            ("n", "The screen is broken and the", true), ("The lamp works", "The screen is broken and the", true),
            ("n", "The screen is broken", false), ("n", "The screen is broken but the", false),
            ("The screen is broken and the new", "The screen is broken and the", false),
        ])
    func cutText(_ before: String, _ shown: String, isOurs: Bool) async throws {
        let cache = try await cache(#"{"id":"a","notes":"\#(before)"}"#)
        try await edited(cache, #"{"notes":"The screen is broken and the client waits"}"#, then: #"{"notes":"next"}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"\#(shown)"}]"#)
        #expect(try (cache.conflictCount() == 0) == isOurs)
    }

    @Test(
        "a text that goes on from one that was sent before it is not cut where the server shows that one, also trimmed",
        arguments: ["", " ", "\\n"])
    func continuedText(end: String) async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#)
        let (sent, whole) = ("The screen is broken and the client", "The screen is broken and the client waits")
        try await edited(cache, #"{"notes":"\#(sent)\#(end)"}"#, then: nil)
        let change = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        try await cache.store.correct(change.id, setting: JSONText(parsing: #"{"notes":"\#(whole)"}"#), at: now)
        try await cache.send(.waiting(PushFailure(.timeout, message: "no answer"), at: now, counted: true))
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"\#(sent)"}]"#)
        #expect(try cache.record("orders", "a")?["notes"]?.string == whole)
        #expect(try cache.store.readyChanges(limit: 1, at: now).first?.body["notes"]?.string == whole)
        #expect(try cache.conflictCount() == 0)
    }

    @Test(
        "nor is a list or object that was sent before its correction what the server made of the corrected one",
        arguments: [
            ("tags", #"["The screen is broken now"]"#, #"["The screen is broken now","b"]"#),
            ("tags", #"["a","b"]"#, #"["a"]"#), ("place", #"{"city":"York","zip":"Y1"}"#, #"{"city":"York"}"#),
        ])
    func continuedParts(_ field: String, _ sent: String, _ corrected: String) async throws {
        let cache = try await cache(#"{"id":"a","tags":[],"place":{}}"#)
        try await edited(cache, #"{"\#(field)":\#(sent)}"#, then: nil)
        let change = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        let correction = try JSONText(parsing: #"{"\#(field)":\#(corrected)}"#)
        try await cache.store.correct(change.id, setting: correction, at: now)
        try await cache.send(.waiting(PushFailure(.timeout, message: "no answer"), at: now, counted: true))
        _ = try await cache.pull("orders", #"[{"id":"a","\#(field)":\#(sent)}]"#)
        #expect(try cache.store.readyChanges(limit: 1, at: now).first?.body[field]?.text == corrected)
        #expect(try cache.conflictCount() == 0)
    }

    @Test(
        "what the server made of a text stays that when another field of the edit is corrected",
        arguments: [true, false])
    func otherCorrected(_ isSentAgain: Bool) async throws {
        let cache = try await cache(#"{"id":"a","notes":"N","tags":[]}"#)
        try await edited(cache, #"{"notes":" A ","tags":["x"]}"#, then: nil)
        let change = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        try await cache.store.correct(change.id, setting: JSONText(parsing: #"{"tags":["y"]}"#), at: now)
        if isSentAgain {
            try await cache.send(.waiting(PushFailure(.timeout, message: "no answer"), at: now, counted: true))
        }
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"A","tags":["\#(isSentAgain ? "y" : "x")"]}]"#)
        #expect(try cache.conflictCount() == 0)
        #expect(try cache.store.readyChanges(limit: 1, at: now).first?.body["tags"]?.text == #"["y"]"#)
    }

    @Test("a list that was set back to what it was before is shown as the server has it")
    func setBack() async throws {
        let cache = try await cache(#"{"id":"a","tags":[{"id":1,"n":1}]}"#)
        for number in [2, 1] {
            try await cache.change("orders", "a", #"{"tags":[{"n":\#(number)}]}"#)
            try await cache.send(answer: #"{"id":"a","tags":[{"id":1,"n":\#(number)}]}"#)
        }
        #expect(try cache.record("orders", "a")?["tags"]?.text == #"[{"id":1,"n":1}]"#)
    }

    @Test("an object from which a member was taken out does not get it back from a view that is behind")
    func takenOut() async throws {
        let cache = try await cache(#"{"id":"a","place":{"city":"York","zip":"Y1"}}"#)
        try await cache.change("orders", "a", #"{"place":{"city":"York"}}"#)
        try await cache.send(answer: nil)
        _ = try await cache.pull("orders", #"[{"id":"a","place":{"city":"York","zip":"Y1"}}]"#)
        #expect(try cache.record("orders", "a")?["place"]?.text == #"{"city":"York"}"#)
    }

    @Test("an object with another value is an edit by others")
    func otherObject() async throws {
        let cache = try await cache(#"{"id":"a","place":{"city":"York"}}"#)
        try await edited(cache, #"{"place":{"city":"Leeds"}}"#, then: #"{"notes":"N"}"#)
        _ = try await cache.pull("orders", #"[{"id":"a","place":{"city":"Bath"}}]"#)
        #expect(try cache.conflictCount() == 1)
    }
}

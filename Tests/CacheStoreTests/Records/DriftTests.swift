import EntitySchema
import JSONText
import SchemaDrift
import TestSupport
import Testing

@testable import CacheStore

@Suite("Drift")
struct DriftTests {
    /// Every kind of field, with a required one and one with a source path.
    private static let zoo = """
        schema: zoo
        upstream: { base_url: "http://localhost", pagination: { style: page } }
        entities:
          owners: { fields: { id: { type: string } }, pull: { path: /owners } }
          animals:
            fields:
              id: { type: string }
              name: { type: string, required: true }
              legs: { type: integer }
              weight: { type: number }
              price: { type: money }
              tame: { type: boolean }
              born: { type: time }
              changed_at: { type: time }
              kind: { type: enum, index: true, values: { cat: Cat, dog: Dog, "vögel": Birds } }
              code: { type: enum, secret: true, values: { a: A } }
              owner: { type: reference, to: owners, from: keeper.person.id }
              food: { type: object }
              toys: { type: list }
            pull: { path: /animals, since: { param: since, field: changed_at }, deleted: gone_at }
            push: { create: { call: POST /animals }, update: { call: "PATCH /animals/{id}" } }
        """

    /// A valid animal with the given members set.
    private func animal(_ changes: String = "{}") throws -> String {
        let fitting = try JSONText(
            parsing: #"""
                {"id":"a","name":"Tom","legs":4,"weight":4.5,"price":129.90,"tame":true,"born":"2020-01-01T10:00:00Z",
                "kind":"cat","code":"a","keeper":{"person":{"id":"o","x":1},"y":2},"food":{"z":[1]},"toys":[{"q":{}}],
                "changed_at":"2026-01-01","gone_at":null}
                """#)
        return "[\(fitting.setting(try JSONText(parsing: changes)).text)]"
    }

    private func cache() throws -> TestCache { try TestCache(schema: Self.zoo) }

    private func drift(_ changes: String) async throws -> [Drift] {
        let cache = try cache()
        _ = try await cache.pull("animals", animal(changes))
        return try cache.store.drift()
    }

    @Test("that no record has a field which the upstream never shows is no drift, also if new records need it")
    func writeOnly() async throws {
        func drift(_ key: String) async throws -> [String] {
            let field = "      note: { type: string\(key) }\n      kind:"
            let cache = try TestCache(schema: Self.zoo.replacing("      kind:", with: field))
            _ = try await cache.pull("animals", animal())
            return try cache.store.drift().map { "\($0.field) \($0.kind)" }
        }
        #expect(try await drift("") == ["note missing"])
        #expect(try await drift(", write_only: true").isEmpty)
        #expect(try await drift(", write_only: true, required: true").isEmpty)
    }

    @Test("a name is found by its scope and all of its bytes, of whatever length")
    func names() {
        let names = (0..<40).map { String(repeating: "n", count: $0) } + ["a\\b", "na", "an", "nnnnnnnna", "vögel"]
        let table = NameTable(names.enumerated().map { (scope: Int32($0 % 2), name: $1, value: Int32($0)) })
        func value(_ name: String, _ scope: Int32) -> Int32 {
            var text = "\"\(name)\""
            return text.withUTF8 { bytes in
                let inner = 1..<(bytes.count - 1)
                let (hash, hasEscape) = NameTable.hash(scope, bytes, inner)
                #expect(hasEscape == name.contains("\\"))
                return table.value(scope, hash, bytes, inner)
            }
        }
        for (index, name) in names.enumerated() {
            #expect(value(name, Int32(index % 2)) == Int32(index))
            #expect(value(name, Int32(1 - index % 2)) == NameTable.noName)
            #expect(value(name + "x", Int32(index % 2)) == NameTable.noName)
        }
    }

    @Test("a valid record is no drift, with nulls, escapes, unusual notation and nested members")
    func fits() async throws {
        #expect(try await drift("{}").isEmpty)
        #expect(
            try await drift(#"{"legs":null,"weight":3,"price":-1e2,"tame":null,"born":"2020-01-01","kind":null}"#)
                .isEmpty)
        let page = #"""
            [ {"\u006eame" : "a \"b\" {[\\", "id":"k\/1" ,"kind":"v\u00f6gel","born":"2020-01-01 10:00:00.5+02:00",
            "legs":4,"weight":1,"price":1,"tame":false,"code":"a","owner":7,"food":{},"toys":[],"changed_at":null} ]
            """#
        let cache = try cache()
        #expect(try await cache.pull("animals", page).written == 1)
        #expect(try cache.store.drift().isEmpty)
        #expect(try cache.store.summary().drift == 0)
        #expect(try cache.store.summary().setAside == 0)
    }

    @Test(
        "each kind of drift is reported with the expected and the found type",
        arguments: [
            (#"{"colour":"red"}"#, "colour", "unknown", nil, "string"),
            (#"{"colour":{"id":"x"}}"#, "colour", "unknown", nil, "object"),
            (#"{"name":null}"#, "name", "missing", "string", "null"),
            (#"{"name":7}"#, "name", "type", "string", "integer"),
            (#"{"legs":4.0}"#, "legs", "type", "integer", "number"),
            (#"{"price":"129.90"}"#, "price", "type", "money", "string"),
            (#"{"tame":1}"#, "tame", "type", "boolean", "integer"),
            (#"{"born":"yesterday"}"#, "born", "type", "time", "string"),
            (#"{"born":"2020-13-01T10:00:00Z"}"#, "born", "type", "time", "string"),
            (#"{"born":1577836800}"#, "born", "type", "time", "integer"),
            (#"{"kind":"fish"}"#, "kind", "value", "one of cat, dog, vögel", "fish"),
            (#"{"kind":true}"#, "kind", "type", "one of cat, dog, vögel", "boolean"),
            (#"{"keeper":{"person":{"id":[]}}}"#, "owner", "type", "key of owners", "array"),
            (#"{"food":"hay"}"#, "food", "type", "object", "string"),
            (#"{"toys":{}}"#, "toys", "type", "list", "object"),
        ] as [(String, String, String, String?, String)])
    func kinds(changes: String, field: String, kind: String, expected: String?, found: String) async throws {
        let drift = try await drift(changes)
        #expect(
            drift == [
                Drift(
                    entity: "animals", field: field, kind: try #require(DriftKind(rawValue: kind)), expected: expected,
                    found: found, count: 1, example: "a", firstSeen: TestCache.now, lastSeen: TestCache.now)
            ])
    }

    @Test("a missing required field is drift; a missing optional field only until a record has it")
    func missing() async throws {
        let cache = try cache()
        let bare = try JSONText(parsing: animal()).elements[0].members.filter { !["name", "legs"].contains($0.key) }
        let text = JSONText.object(members: bare)
        _ = try await cache.pull("animals", "[\(text.text),\(text.setting("id", to: "b").text)]")
        let drift = try cache.store.drift()
        #expect(drift.map(\.field) == ["legs", "name"])
        #expect(drift.allSatisfy { $0.kind == .missing && $0.found == "absent" && $0.count == 2 && $0.example == "b" })
        _ = try await cache.pull("animals", animal(#"{"id":"c","legs":null}"#))
        #expect(try cache.store.drift().map(\.field) == ["name"])
        _ = try await cache.pull("animals", "[\(text.setting("id", to: "d").text)]")
        #expect(try cache.store.drift().map(\.count) == [3])
    }

    @Test("an optional field inside null is not missing")
    func insideNull() async throws {
        #expect(try await drift(#"{"keeper":{"person":null}}"#).isEmpty)
        #expect(try await drift(#"{"keeper":null}"#).isEmpty)
        #expect(try await drift(#"{"keeper":{}}"#).map(\.found) == ["absent"])
    }

    @Test("only record versions that were written are counted; the latest is the example")
    func counts() async throws {
        let cache = try cache()
        let page = try #"[{"id":"x","name":"n","kind":"cat"},\#(animal(#"{"kind":"fish"}"#).dropFirst())"#
        _ = try await cache.pull("animals", page)
        _ = try await cache.pull("animals", page)
        #expect(try cache.store.drift().map(\.count) == [1])
        let later = TestCache.now + .seconds(60)
        let changed = PulledPage(
            entity: "animals", records: page.replacing(#""id":"x""#, with: #""kind":"fish","id":"x""#))
        _ = try await cache.store.apply(changed, at: later)
        let drift = try #require(try cache.store.drift().first)
        #expect((drift.count, drift.example) == (2, "x"))
        #expect((drift.firstSeen, drift.lastSeen) == (TestCache.now, later))
    }

    @Test("an enum value outside the schema is stored, served and filterable")
    func unknownValue() async throws {
        let cache = try cache()
        _ = try await cache.pull("animals", animal(#"{"kind":"fish"}"#))
        #expect(try cache.record("animals", "a")?["kind"]?.string == "fish")
        let filter = FilterCondition(field: "kind", comparison: .equal, values: ["fish"])
        #expect(try cache.keys(ListQuery(entity: "animals", filters: [filter])) == ["a"])
    }

    @Test("the record that acknowledges a change is counted once, and not again when it is pulled")
    func acknowledged() async throws {
        let cache = try cache()
        _ = try await cache.pull("animals", animal())
        try await cache.store.update("animals", key: "a", body: JSONText(parsing: #"{"legs":3}"#), at: TestCache.now)
        let change = try await cache.begun()
        let answer = try JSONText(parsing: animal(#"{"legs":"three"}"#)).elements[0]
        try await cache.store.finish(change.id, .acknowledged(record: answer), at: TestCache.now)
        _ = try await cache.pull("animals", "[\(answer.text)]")
        #expect(try cache.store.drift().map(\.field) == ["legs"])
        #expect(try cache.store.drift().map(\.count) == [1])
    }

    @Test("what the answer to a change lacks is no drift: it may be a part of the record")
    func partialAnswer() async throws {
        let cache = try cache()
        _ = try await cache.pull("animals", animal())
        try await cache.store.update("animals", key: "a", body: JSONText(parsing: #"{"legs":3}"#), at: TestCache.now)
        let change = try await cache.begun()
        let answer = try JSONText(parsing: #"{"id":"a","changed_at":"2026-01-02"}"#)
        try await cache.store.finish(change.id, .acknowledged(record: answer), at: TestCache.now)
        #expect(try cache.store.drift() == [])
    }

    @Test("secrets never appear: neither a value outside an enum nor a member of a record set aside")
    func secrets() async throws {
        let cache = try cache()
        _ = try await cache.pull("animals", #"[{"id":"b","name":"n","code":"1234"},{"name":"x","code":"1234"}]"#)
        let drift = try cache.store.drift().filter { $0.field == "code" }
        #expect(drift.map(\.found) == ["…"])
        let aside = try cache.store.setAsideRecords(limit: 10)
        #expect(aside == [SetAsideRecord(entity: "animals", record: #"{"name":"x"}"#, at: TestCache.now)])
        #expect(try cache.store.summary().setAside == 1)
    }

    @Test("long names, values and records are cut, also if a single character is endless")
    func cut() async throws {
        let cache = try cache()
        let endless = "a" + String(repeating: "\u{301}", count: 10_000)
        let record = JSONText.object(["id": "a", "name": "n", "kind": .string(endless)]).setting(endless, to: true)
        _ = try await cache.pull("animals", JSONText.array([record, .object(["name": .string(endless)])]).text)
        let drift = try cache.store.drift()
        #expect(drift.filter { $0.kind == .value }.map(\.found.unicodeScalars.count) == [100])
        #expect(drift.filter { $0.kind == .unknown }.map(\.field.unicodeScalars.count) == [100])
        #expect(try cache.store.setAsideRecords(limit: 10).map(\.record.unicodeScalars.count) == [4096])
    }

    @Test("of records without a usable key, a thousand are kept, and others only once these are a day old")
    func boundedSetAside() async throws {
        let cache = try cache()
        func pull(_ numbers: Range<Int>, after seconds: Int) async throws -> [String] {
            let records = JSONText.array(numbers.map { JSONText.object(["legs": .integer($0)]) }).text
            let page = PulledPage(entity: "animals", records: records)
            _ = try await cache.store.apply(page, at: TestCache.now + .seconds(seconds))
            return try cache.store.setAsideRecords(limit: 2000).map(\.record)
        }
        #expect(try await pull(0..<999, after: 0).count == 999)
        #expect(try await pull(0..<1005, after: 60).contains(#"{"legs":999}"#))
        let full = try await pull(2000..<2010, after: 3600)
        #expect(full.count == 1000)
        #expect(!full.contains(#"{"legs":2000}"#))
        let next = try await pull(2000..<2010, after: 86_430)
        #expect(next.count == 11)
        #expect(try cache.store.summary().setAside == 11)
    }

    @Test("distinct values and unknown fields are counted separately only up to a limit")
    func bounds() async throws {
        let cache = try cache()
        let records = (0..<300).map { number in
            JSONText.object(["id": .string("\(number)"), "name": "n", "kind": .string("kind \(number)")])
                .setting("f\(number)", to: true)
        }
        _ = try await cache.pull("animals", JSONText.array(records).text)
        let drift = try cache.store.drift()
        let values = drift.filter { $0.kind == .value }
        #expect(values.count == 51)
        #expect(values.first?.found == "…")
        #expect(values.first?.count == 250)
        let unknown = drift.filter { $0.kind == .unknown }
        #expect(unknown.count == 201)
        #expect(unknown.first?.field == "…")
        #expect(try cache.store.summary().drift == drift.count)
    }

    @Test("of one page only so many names are kept apart, and none is left uncounted")
    func tally() throws {
        let animals = try #require(EntitySchema(yaml: Self.zoo, file: "zoo.yaml")["animals"])
        let names = (0..<3000).map { (key: "f\($0)", value: JSONText.boolean(true)) }
        let own: [(key: String, value: JSONText)] = [("id", "a"), ("name", "n"), ("legs", "four")]
        var tally = DriftTally(DriftRules(animals))
        tally.count(JSONText.object(members: own + names).text, key: "a")
        #expect(tally.entries.count <= 1002)
        #expect(tally.entries.filter { $0.disagreement.kind == .unknown }.reduce(0) { $0 + $1.count } == 3000)
        #expect(tally.entries.filter { $0.disagreement.kind == .type }.map(\.disagreement.field) == ["legs"])
    }

    @Test("a changed schema counts the cached records again")
    func otherSchema() async throws {
        let cache = try TestCache()
        _ = try await cache.pull("orders", #"[{"id":"a","status":"lost","colour":"red","total":1}]"#)
        let before = try cache.store.drift().filter { $0.kind != .missing }.map(\.field)
        #expect(before == ["colour", "status"])
        let other = TestCache.shop.replacing("total: { type: money }", with: "colour: { type: string }").replacing(
            "ready: Ready", with: "lost: Lost")
        let reopened = try cache.reopened(schema: other)
        #expect(try reopened.store.drift().filter { $0.kind != .missing }.map(\.field) == ["total"])
        let again = try reopened.reopened(schema: other)
        #expect(try again.store.drift().filter { $0.kind != .missing }.map(\.count) == [1])
        #expect(try again.store.drift(after: 0).found.count == again.store.drift().count)
        let mark = try again.store.drift(after: 0).mark
        #expect(try again.store.drift(after: mark) == ([], mark))
    }

    @Test("an object that is a field, and has other fields inside, is not missing")
    func objectWithFields() async throws {
        let fields = "food: { type: object, required: true }\n      meals: { type: list, from: food.z }"
        let cache = try TestCache(schema: Self.zoo.replacing("food: { type: object }", with: fields))
        _ = try await cache.pull("animals", animal())
        #expect(try cache.store.drift().isEmpty)
        _ = try await cache.pull("animals", animal(#"{"food":null}"#))
        #expect(try cache.store.drift().map(\.field) == ["food"])
    }

    @Test("what is inside a list is not compared, so it is not missing")
    func insideLists() throws {
        let yaml = Self.zoo.replacing(
            "toys: { type: list }", with: "toys: { type: string, from: boxes.0.toy, required: true }")
        let rules = DriftRules(try #require(try EntitySchema(yaml: yaml, file: "zoo.yaml")["animals"]))
        var tally = DriftTally(rules)
        let animal = try animal(#"{"boxes":[{"toy":"ball"}]}"#)
        tally.count(animal, key: "a")
        let index = try #require(rules.entity.fields.firstIndex { $0.name == "toys" })
        #expect(tally.present[index])
        #expect(!tally.entries.contains { $0.disagreement.kind == .missing })
    }

    @Test("truncated text is walked to its end without reading beyond it")
    func truncated() throws {
        let rules = DriftRules(try #require(try EntitySchema(yaml: Self.zoo, file: "zoo.yaml")["animals"]))
        let page = Array(try animal(#"{"name":"\"\\","kind":"\u00e9"}"#).utf8)
        for count in 0...page.count {
            page[..<count].withUnsafeBufferPointer { bytes in
                var walk = DriftWalk(rules, bytes)
                while walk.next() {}
            }
        }
    }
}

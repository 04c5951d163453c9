import EntitySchema
import JSONText
import Testing

@testable import SchemaDraft

@Suite("Drafting from answers")
struct ObservedAPITests {
    private func schema() throws -> EntitySchema { try draft().schema }

    private func draft() throws -> SchemaDraft {
        let customers = (1...3).map { #"{ "uuid": "c0ffee00-0000-4000-8000-00000000000\#($0)", "name": "C\#($0)" }"# }
        let orders = (1...4).map { number in
            #"{ "id": \#(number), "buyer": "c0ffee00-0000-4000-8000-00000000000\#(1 + number % 3)", "total": "12.5\#(number)", "placed": "2026-01-0\#(number)T09:00:00Z" }"#
        }
        var first = ObservedList(
            path: "/orders",
            answers: [
                try JSONText(
                    parsing:
                        #"{ "results": [\#(orders.joined(separator: ","))], "count": 9, "next": "https://shop.example/api/orders?page=2" }"#
                )
            ])
        first.single = try JSONText(parsing: orders[0])
        first.size = "limit"
        let second = ObservedList(
            path: "/customers", answers: [try JSONText(parsing: "[\(customers.joined(separator: ","))]")])
        let document = try ObservedAPI(
            address: "https://shop.example/api", lists: [first, second], signIn: .bearer
        ).document()
        return try SchemaDrafter(document, source: "answers").draft()
    }

    @Test("Types, times, amounts in quotes and keys are inferred from values")
    func fields() throws {
        let orders = try #require(schema()["orders"])
        #expect(orders.key == "id")
        #expect(orders[field: "placed"]?.kind == .time)
        #expect(orders[field: "total"]?.isTextOnWire == true)
        #expect(try schema()["customers"]?.key == "uuid")
    }

    @Test("Values that are keys of another list are references to it")
    func references() throws {
        #expect(try schema()["orders"]?[field: "buyer"]?.kind == .reference(to: "customers"))
    }

    @Test("Paging, total, address and single records are those that answered")
    func paging() throws {
        let schema = try schema()
        let pull = try #require(schema["orders"]?.pull)
        #expect(pull.list.style == .nextURL(Place(paths: ["next"])))
        #expect(pull.list.total?.paths == ["count"])
        #expect(pull.single.isServed)
        #expect(schema["customers"]?.pull?.single.isServed == false)
        #expect(schema.upstream.baseURL == "https://shop.example/api")
    }

    @Test("What several lists lack is said once, after their names")
    func todos() throws {
        let draft = try draft()
        let missing = "pull.since: a parameter for what changed since a time; without it each sync reads the whole list"
        #expect(draft.todos == ["orders, customers: \(missing)"])
    }

    @Test("An answer to what is missing removes the TODO")
    func answered() throws {
        let records = (1...3).map { #"{ "id": \#($0), "updated_at": "2026-01-0\#($0)T09:00:00Z" }"# }
        let list = ObservedList(
            path: "/notes", answers: [try JSONText(parsing: "[\(records.joined(separator: ","))]")])
        let document = try ObservedAPI(address: "https://shop.example", lists: [list], signIn: nil).document()
        var drafter = SchemaDrafter(document, source: "answers")
        let question = try #require(drafter.questions.first { $0.subject == .changes(entity: "notes") })
        try drafter.take("changed_since", to: question)
        let draft = try drafter.draft()
        #expect(draft.schema["notes"]?.pull?.isSince == true)
        #expect(draft.todos.isEmpty, "\(draft.todos)")
    }

    @Test("Members with endless names are left out of the draft")
    func endlessNames() throws {
        let name = String(repeating: "n", count: 10_000)
        let records = (1...3).map { "{\"id\":\($0),\"\(name)\":1,\"note\":\"a\"}" }.joined(separator: ",")
        let list = ObservedList(path: "/orders", answers: [try JSONText(parsing: "[\(records)]")])
        let document = try ObservedAPI(address: "https://a.example", lists: [list], signIn: nil).document()
        let draft = try SchemaDrafter(document, source: "answers").draft()
        #expect(draft.schema["orders"]?.fields.contains { $0.name == "note" } == true)
        #expect(!draft.yaml.contains(name))
    }

    @Test("Answers without a list of objects are refused in words")
    func nothing() throws {
        let list = ObservedList(path: "/a", answers: [try JSONText(parsing: "{}")])
        #expect(throws: SchemaDraftError.self) {
            try ObservedAPI(address: "https://a.example", lists: [list], signIn: nil).document()
        }
    }
}

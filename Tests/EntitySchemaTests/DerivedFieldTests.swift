import Testing

@testable import EntitySchema

@Suite("Computed fields in a schema")
struct DerivedFieldTests {
    private static let chat = """
        schema: chat
        upstream: { base_url: http://localhost }
        entities:
          rooms:
            fields:
              id: { type: string }
              name: { type: string }
              title: { type: string, derive: { text: "{id} {name}" } }
              lines: { type: integer, derive: { count: lines, unless: { read_by: $account, state: [failed] } } }
              cost: { type: money, derive: { sum: lines.cost } }
              last: { type: string, derive: { latest: lines.text, by: at } }
              floor: { type: string }
            many: { lines: { of: lines, by: room_id, on_delete: cascade } }
            pull: { path: /rooms }
            push: { create: { call: POST /rooms } }
          lines:
            fields:
              id: { type: string }
              room_id: { type: reference, to: rooms, required: false }
              text: { type: string }
              code: { type: string, secret: true }
              at: { type: time }
              cost: { type: money }
              read_by: { type: list, merge: set }
              state: { type: enum, values: { new: New, sent: Sent, read: Read, failed: Failed }, follow: { queued: new, acknowledged: sent, failed: failed, then: [read] } }
            pull: { path: /lines }
            push:
              create: { call: POST /lines }
        """

    @Test("they are read with their sources, and the fields they are looked up by are indexed")
    func reading() throws {
        let schema = try EntitySchema(yaml: Self.chat, file: "chat.yaml")
        let rooms = try #require(schema["rooms"])
        #expect(rooms.derivedFields.map(\.name) == ["title", "lines", "cost", "last"])
        #expect(
            rooms[field: "lines"]?.derivation
                == .children(
                    ChildFigure(
                        relation: "lines", measure: .count,
                        conditions: [
                            Condition(field: "read_by", values: ["$account"], excluded: true),
                            Condition(field: "state", values: ["failed"], excluded: true),
                        ])))
        let lines = try #require(schema["lines"])
        #expect(lines[field: "room_id"]?.indexed == true && lines[field: "read_by"]?.mergesAsSet == true)
        #expect(
            lines[field: "state"]?.follow == QueueFollowing(queued: "new", failed: "failed", order: ["sent", "read"]))
        #expect(lines.ties == [Entity.Tie(entity: "rooms", field: "room_id", onDelete: .cascade, isCounted: true)])
    }

    @Test(
        "an invalid one is rejected with its key and what was expected",
        arguments: [
            (
                "{ count: lines, unless", "{ count: line, unless", "rooms.fields.lines.derive.count",
                "did you mean lines?"
            ),
            (
                "{ count: lines, unless", "{ by: at, count: lines, unless", "rooms.fields.lines.derive.by",
                "by is only allowed with latest"
            ),
            (
                "{ count: lines, unless", "{ count: lines, sum: lines.cost, unless", "rooms.fields.lines.derive",
                "exactly one of"
            ),
            ("type: integer, derive", "type: string, derive", "rooms.fields.lines.derive.count", "type integer"),
            ("sum: lines.cost", "sum: lines.text", "rooms.fields.cost.derive.sum", "cannot be summed"),
            ("sum: lines.cost", "sum: lines", "rooms.fields.cost.derive.sum", "a relation and a field"),
            ("sum: lines.cost", "sum: lines.code", "rooms.fields.cost.derive.sum", "secret"),
            ("latest: lines.text, by: at", "latest: lines.text, by: text", "rooms.fields.last.derive.by", "type time"),
            (
                "latest: lines.text, by: at", "latest: lines.at, by: at", "rooms.fields.last.derive.latest",
                "needs the type"
            ),
            ("latest: lines.text, by: at", "latest: lines.text", "rooms.fields.last.derive", "by is missing"),
            (#""{id} {name}""#, #""{title}""#, "rooms.fields.title.derive.text", "computed itself"),
            (#""{id} {name}""#, #""{nam}""#, "rooms.fields.title.derive.text", "did you mean name?"),
            ("[failed] }", "[faild] }", "rooms.fields.lines.derive.unless.state", "did you mean failed?"),
            (
                "type: money, derive", "type: money, required: true, derive", "rooms.fields.cost.required",
                "read-only"
            ),
            ("then: [read]", "then: [reed]", "lines.fields.state.follow.then.0", "did you mean read?"),
            ("then: [read]", "then: [sent]", "lines.fields.state.follow", "is used twice"),
            ("type: list, merge: set", "type: string, merge: set", "lines.fields.read_by.merge", "type list"),
            ("type: list, merge: set", "type: list, merge: sets", "lines.fields.read_by.merge", "expected set"),
            (
                "on_delete: cascade", "on_delete: drop", "rooms.many.lines.on_delete",
                "one of keep, cascade, nullify, deny"
            ),
            ("call: POST /lines", #"call: "POST /{state}/lines""#, "lines.fields.state", "path or condition of a push"),
            ("call: POST /lines", "call: POST /lines, fields: [state]", "lines.fields.state", "push needs"),
            (
                "floor: { type: string }", "floor: { type: string }\n    order_within: title", "rooms.fields.title",
                "order_within"
            ),
        ])
    func refused(_ good: String, _ bad: String, _ key: String, _ problem: String) throws {
        #expect(Self.chat.contains(good))
        let error = #expect(throws: SchemaError.self) {
            _ = try EntitySchema(yaml: Self.chat.replacing(good, with: bad, maxReplacements: 1), file: "chat.yaml")
        }
        #expect(error?.key == "entities.\(key)", "\(bad): \(String(describing: error))")
        #expect(error?.problem.contains(problem) == true, "\(bad): \(String(describing: error))")
        #expect(error?.line ?? 0 > 0)
    }

    @Test("nullify is rejected for a reference that cannot be null")
    func nullify() throws {
        let bad = Self.chat.replacing("cascade", with: "nullify").replacing("required: false", with: "required: true")
        let error = #expect(throws: SchemaError.self) { _ = try EntitySchema(yaml: bad, file: "chat.yaml") }
        #expect(error?.key == "entities.rooms.many.lines" && error?.problem.contains("cannot become null") == true)
    }
}

import JSONText
import Testing

@testable import EntitySchema

@Suite("A schema with a key in another place")
struct LiftSchemaTests {
    private func yaml(
        _ key: String, fields: String = "title: { type: string }", type: String = "string", pull: String = "",
        push: String = ""
    ) -> String {
        """
        schema: small
        upstream: { base_url: http://localhost }
        entities:
          notes:
            key: \(key)
            fields: { id: { type: \(type) }, \(fields) }
            pull: { path: /notes\(pull) }
            push: { \(push) }
        """
    }

    private func entity(_ yaml: String) throws -> Entity {
        try #require(try EntitySchema(yaml: yaml, file: "small.yaml")["notes"])
    }

    @Test("says a place, a link, several places or a name, and that the upstream makes the key")
    func forms() throws {
        for (from, source) in [
            ("sys.id", Lift.Source.value("sys.id")), ("$id.value", .value("$id.value")),
            (#"'"@id"'"#, .value(#""@id""#)),
            ("{ link: _links.self.href }", .link("_links.self.href")),
            ("[order_id, line_no]", .parts(["order_id", "line_no"])),
        ] {
            let pull = if case .parts = source { ", record: none" } else { "" }
            let entity = try entity(yaml("{ field: id, from: \(from) }", pull: pull))
            #expect(entity.lift?.members == [Lift.Member(name: "id", source: source)])
            #expect(entity.keyForm == .server && entity.pull?.list.lift == entity.lift)
        }
        let named = try entity(yaml("{ field: id, from: $name }", pull: ", records: \"*\""))
        #expect(named.lift?.named == "id")
        #expect(try entity(yaml("{ from: { link: url } }", type: "integer")).lift?.members.first?.isNumber == true)
        #expect(try entity(yaml("id")).lift == nil)
    }

    @Test(
        "is refused where the place says nothing",
        arguments: [
            ("{ from: uuid }", "key.from", "write key: uuid"), ("{ from: id.value }", "key.from", "another name"),
            ("{ from: lines.*.id }", "key.from", "goes through a list"),
            ("{ from: [order_id] }", "key.from", "at least two"),
            ("{ from: [a, a] }", "key.from", "each once"),
            ("{ from: { place: url } }", "key.from.place", "unknown key"),
            ("[a, b]", "key", "from: [order_id, line_no]"),
            ("{ from: sys.id, made: uuid }", "key.made", "made by the upstream"),
        ])
    func refused(_ key: String, _ place: String, _ words: String) {
        expectRefusal(refusal(of: yaml(key)), "entities.notes.\(place)", words)
    }

    @Test("is refused where a request would need a key that the upstream does not know")
    func unknown() {
        let parts = "{ from: [order_id, line_no] }"
        expectRefusal(refusal(of: yaml(parts)), "entities.notes.pull", "record: none")
        let path = #", record: { path: "/orders/{order_id}/{line_no}" }"#
        let fields = "order_id: { type: string }, line_no: { type: integer }"
        let delete = #"delete: { call: "DELETE /notes/{id}" }"#
        expectRefusal(
            refusal(of: yaml(parts, fields: fields, pull: path, push: delete)), "entities.notes.push",
            "made here of several parts")
        let own = #"delete: { call: "DELETE /orders/{order_id}/{line_no}" }"#
        #expect(refusal(of: yaml(parts, fields: fields, pull: path, push: own)) == nil)
        expectRefusal(
            refusal(of: yaml(parts, fields: fields, type: "integer", pull: path)), "entities.notes.key", "type string")
        expectRefusal(
            refusal(of: yaml("{ from: sys.id }", push: "create: { call: POST /notes, look_up: key }")),
            "entities.notes.push.create", "use match")
        expectRefusal(
            refusal(
                of: yaml("{ from: sys.id }", push: #"create: { call: POST /notes, body: { key: "{id}", x: $fields } }"#)
            ),
            "entities.notes.push.create", "which the upstream makes")
    }

    @Test("takes the names of an object's members only where the list is one")
    func names() {
        expectRefusal(
            refusal(of: yaml("{ from: $name }", pull: ", records: rows")), "entities.notes.pull.records", "end with *")
        #expect(refusal(of: yaml("{ from: $name }", pull: ", records: rows.*")) == nil)
    }

    @Test("tells how to write the place when it stands in the field")
    func field() {
        let text = yaml("id").replacing("id: { type: string }", with: "id: { type: string, from: sys.id }")
        expectRefusal(refusal(of: text), "entities.notes.key", "write key: { field: id, from: … }")
    }

    @Test("sends no key in a whole record, nor a link that was read as a reference")
    func whole() throws {
        let fields = #"title: { type: string }, near_id: { type: reference, to: notes, from: { link: next } }"#
        let entity = try entity(yaml("{ from: sys.id }", fields: fields, push: #"update: { call: "PUT /notes/{id}" }"#))
        let lift = try #require(entity.lift)
        let remote = lift.lifted(try JSONText(parsing: #"{"sys":{"id":"a","v":3},"title":"A","next":"/notes/b"}"#))
        #expect(remote["near_id"] == "b")
        let request = entity.request(for: .update, record: remote, body: .object(["title": "B"]), remote: remote)
        #expect(request?.path == "/notes/a")
        #expect(request?.body?.text == #"{"sys":{"id":"a","v":3},"title":"B","next":"/notes/b"}"#)
        let moved = entity.request(for: .update, record: remote, body: .object(["near_id": "c"]), remote: remote)
        #expect(moved?.body?.text == #"{"sys":{"id":"a","v":3},"title":"A","next":"c"}"#)
        let unseen = remote.setting("near_id", to: "c")
        let later = entity.request(for: .update, record: unseen, body: .object(["title": "B"]), remote: unseen)
        #expect(later?.body?.text == #"{"sys":{"id":"a","v":3},"title":"B","next":"c"}"#)
        let creation = entity.request(
            for: .create, record: .object(["id": "u"]), body: .object(["id": "u", "title": "C"]))
        #expect(creation == nil)
    }

    @Test("sends a reference as a link where the schema says how")
    func sent() throws {
        let fields =
            #"title: { type: string }, near_id: { type: reference, to: notes, from: { link: next, sent: "https://h/notes/{near_id}" } }"#
        let push =
            #"create: { call: POST /notes, body: { note: { $fields: { title: title, next: near_id } } } }, update: { call: "PUT /notes/{id}" }"#
        let entity = try entity(yaml("{ from: { link: url } }", fields: fields, push: push))
        let body = JSONText.object(["id": "u", "title": "C", "near_id": "b c"])
        let creation = entity.request(for: .create, record: body, body: body)
        let sent = creation?.request(
            try EntitySchema(yaml: yaml("id"), file: "small.yaml").upstream, idempotencyKey: "k")
        #expect(sent?.body?.text == #"{"note":{"title":"C","next":"https://h/notes/b%20c"}}"#)
        let lift = try #require(entity.lift)
        let remote = lift.lifted(try JSONText(parsing: #"{"url":"/notes/a","title":"A","next":"/notes/b"}"#))
        let request = entity.request(for: .update, record: remote, body: .object(["near_id": "d"]), remote: remote)
        #expect(request?.body?.text == #"{"url":"/notes/a","title":"A","next":"https://h/notes/d"}"#)
        let removed = entity.request(for: .update, record: remote, body: .object(["near_id": .null]), remote: remote)
        #expect(removed?.body?["next"] == .null)
    }

    @Test("a link is for references, and what is sent for it has the field in it")
    func links() {
        let text = { (field: String) in self.yaml("id", fields: field) }
        expectRefusal(
            refusal(of: text("near_id: { type: string, from: { link: next } }")), "entities.notes.fields.near_id.from",
            "only a reference")
        expectRefusal(
            refusal(of: text("near_id: { type: reference, to: notes, from: { link: next, sent: /notes } }")),
            "entities.notes.fields.near_id.from.sent", "{near_id}")
        #expect(refusal(of: text("near_id: { type: reference, to: notes, from: { link: next } }")) == nil)
    }

    @Test("an entry of a list of deletions has the key where a record has it, unless the list says otherwise")
    func deletions() throws {
        func list(_ key: String) throws -> TombstoneList? {
            let pull = ", changed_at: t, deleted: { path: /gone, at: t\(key) }"
            return try entity(yaml("{ from: { link: url } }", fields: "t: { type: time }", pull: pull)).tombstones
        }
        func member(_ place: String) -> Lift { Lift([Lift.Member(name: "id", source: .link(place))]) }
        #expect(try list("")?.key == Place(paths: ["id"]) && list("")?.plan.list.lift == member("url"))
        #expect(try list(", key: { link: of }")?.plan.list.lift == member("of"))
        #expect(
            try list(", key: ref.id")?.key == Place(paths: ["ref.id"]) && list(", key: ref.id")?.plan.list.lift == nil)
    }

    @Test("an address of a record of several parts names no key")
    func location() throws {
        let fields = "order_id: { type: string }, line_no: { type: integer }"
        let path = #", record: { path: "/orders/{order_id}/{line_no}" }"#
        let entity = try entity(yaml("{ from: [order_id, line_no] }", fields: fields, pull: path))
        #expect(entity.key(at: "/notes/7") == nil)
        #expect(try self.entity(yaml("{ from: sys.id }")).key(at: "/notes/7") == "7")
    }
}

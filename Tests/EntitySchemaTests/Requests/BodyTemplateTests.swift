import JSONText
import Testing

@testable import EntitySchema

@Suite("What is sent around the fields of a change")
struct BodyTemplateTests {
    private static func entity(_ route: String) throws -> Entity {
        let yaml = """
            schema: small
            upstream: { base_url: http://localhost }
            entities:
              notes:
                fields:
                  id: { type: string }
                  text: { type: string }
                  size: { type: integer }
                  weight: { type: integer, wire: string }
                  code: { type: string, secret: true }
                  tags: { type: list }
                pull: { path: /notes }
                push: { update: { call: "PATCH /notes/{id}", \(route) } }
            """
        guard let entity = try EntitySchema(yaml: yaml, file: "small.yaml")["notes"] else { throw CancellationError() }
        return entity
    }

    private static func sent(_ route: String, over remote: JSONText? = .none) throws -> WireRequest {
        let entity = try entity(route)
        let record = JSONText.object(["id": "a", "text": "new", "size": 3, "weight": 2])
        let request = entity.request(for: .update, record: record, body: .object(["text": "new"]), remote: remote)
        let yaml = "schema: s\nupstream: {}\nentities: { a: { fields: { id: { type: string } }, pull: { path: /a } } }"
        let plan = try EntitySchema(yaml: yaml, file: "s.yaml").upstream
        return try #require(request).request(plan, idempotencyKey: "k")
    }

    @Test(
        "the fields stand where the schema has them, among constants and values of the record",
        arguments: [
            ("body: { note: $fields }", #"{"note":{"text":"new"}}"#),
            (#"body: { <<: $fields, Id: "{id}", sparse: true }"#, #"{"text":"new","Id":"a","sparse":true}"#),
            (
                "body: { fields: { project: ED, <<: { $fields: { summary: text, project: size } } } }",
                #"{"fields":{"project":"ED","summary":"new"}}"#
            ),
            (
                #"body: { data: { type: notes, id: "{id}", attributes: $fields } }"#,
                #"{"data":{"type":"notes","id":"a","attributes":{"text":"new"}}}"#
            ),
            (
                #"body: { ops: [{ set: $fields, size: "{size}", once: true, level: 2, by: "2", at: null }] }"#,
                #"{"ops":[{"set":{"text":"new"},"size":3,"once":true,"level":2,"by":"2","at":null}]}"#
            ),
            (#"body: { set: $fields, weight: "{weight}" }"#, #"{"set":{"text":"new"},"weight":"2"}"#),
            (#"body: { $set: $fields }"#, #"{"$set":{"text":"new"}}"#), ("body: { words: text }", #"{"words":"new"}"#),
        ])
    func places(_ route: String, _ expected: String) throws {
        #expect(try Self.sent(route).body?.text == expected)
    }

    private static let nested = "{ Its Text: text, sizes: { first: [size], all: { n: size } }, code: code }"

    @Test(
        "fields are sent under the names and in the places that the schema lists, and no others",
        arguments: [
            ("body: { $fields: \(nested) }", #"{"Its Text":"new"}"#),
            ("body: { data: [{ $fields: \(nested) }] }", #"{"data":[{"Its Text":"new"}]}"#),
            (
                "body: { data: { $record: \(nested) } }",
                #"{"data":{"Its Text":"new","sizes":{"first":[3],"all":{"n":3}}}}"#
            ),
            ("encoding: form, body: { note: { $fields: { my: { text: text } } } }", "note%5Bmy%5D%5Btext%5D=new"),
        ])
    func namedPlaces(_ route: String, _ expected: String) throws {
        let sent = try Self.sent(route, over: .object(["id": "a", "text": "old", "size": 3]))
        #expect((sent.text ?? sent.body?.text) == expected)
    }

    @Test("a list of one value is empty, and a member with $or_null is null, if all fields inside are null")
    func empty() throws {
        let route = "body: { $fields: { sizes: [size], words: [{ t: { c: text } }], of: { $or_null: { n: size } } } }"
        let places = try #require(try Self.entity(route).push.update.first?.body)
        let cleared = places.filled { _ in JSONText.null }
        #expect(cleared?.text == #"{"sizes":[],"words":[],"of":null}"#)
        #expect(places.filled { _ in "x" }?.text == #"{"sizes":["x"],"words":[{"t":{"c":"x"}}],"of":{"n":"x"}}"#)
        #expect(places.filled { $0 == "text" ? "x" : .none }?.text == #"{"words":[{"t":{"c":"x"}}]}"#)
        let found = try places.values(in: #require(cleared)).map { "\($0.key)=\($0.value.text)" }
        #expect(found == ["size=null", "text=null", "size=null"])
    }

    @Test("what is around $each is repeated for each element of a list")
    func eachElement() throws {
        let route =
            "body: { $fields: { tags: [{ of: { name: { $each: tags } }, kind: { $text: tag } }], n: { $or_null: size } } }"
        let places = try #require(try Self.entity(route).push.update.first?.body)
        func sent(_ tags: JSONText) -> String? { places.filled { $0 == "tags" ? tags : .none }?.text }
        let two = #"{"tags":[{"of":{"name":"a"},"kind":"tag"},{"of":{"name":null},"kind":"tag"}]}"#
        #expect(sent(.array(["a", .null])) == two)
        #expect(sent(.array([])) == #"{"tags":[]}"# && sent(.null) == #"{"tags":[]}"#)
        #expect(places.filled { $0 == "size" ? 3 : .none }?.text == #"{"n":3}"#)
        func found(_ body: String) throws -> [String] {
            try places.values(in: JSONText(parsing: body)).map { "\($0.key)=\($0.value.text)" }
        }
        #expect(try found(two) == [#"tags=["a",null]"#])
        #expect(try found(#"{"tags":[]}"#) == ["tags=[]"])
    }

    @Test("the elements of a list are objects upstream, and texts here, in both directions")
    func eachFrom() throws {
        let yaml = """
            schema: small
            upstream: { base_url: http://localhost }
            entities:
              notes:
                fields:
                  id: { type: string }
                  tag_names: { type: list, from: tags.*.name }
                pull: { path: /notes }
                push: { update: { call: "PUT /notes/{id}", body: { $record: { tags: [{ name: { $each: tag_names } }] } } } }
            """
        let entity = try #require(try EntitySchema(yaml: yaml, file: "small.yaml")["notes"])
        let remote = try JSONText(parsing: #"{"id":"a","tags":[{"name":"x","color":1},{"name":"y","color":2}]}"#)
        #expect(entity.value(of: "tag_names", in: remote)?.text == #"["x","y"]"#)
        let change = JSONText.object(["tag_names": .array(["x", "z"])])
        let request = entity.request(for: .update, record: remote.setting(change), body: change, remote: remote)
        #expect(request?.body?.text == #"{"tags":[{"name":"x"},{"name":"z"}]}"#)
    }

    @Test("null is an empty text in place of what is after $or_empty")
    func emptyText() throws {
        let route = "body: { $fields: { Text: { $or_empty: text }, of: { $or_empty: { n: size } } } }"
        let places = try #require(try Self.entity(route).push.update.first?.body)
        let cleared = #"{"Text":"","of":""}"#
        #expect(places.filled { _ in JSONText.null }?.text == cleared)
        #expect(places.filled { _ in "x" }?.text == #"{"Text":"x","of":{"n":"x"}}"#)
        #expect(places.filled { $0 == "size" ? 1 : .none }?.text == #"{"of":{"n":1}}"#)
        let found = try places.values(in: JSONText(parsing: cleared)).map { "\($0.key)=\($0.value.text)" }
        #expect(found == ["text=null", "size=null"])
    }

    @Test("constants stand beside the fields that are sent, and go with them")
    func constants() throws {
        let note =
            "{ $or_null: { type: { $text: doc }, version: 1, content: [{ deep: { $text: text }, text: text }] } }"
        let places = try #require(
            try Self.entity("body: { $fields: { note: \(note), code: code } }").push.update.first?.body)
        let whole = #"{"note":{"type":"doc","version":1,"content":[{"deep":"text","text":"x"}]}}"#
        #expect(places.filled { $0 == "text" ? "x" : .none }?.text == whole)
        #expect(places.filled { $0 == "text" ? JSONText.null : .none }?.text == #"{"note":null}"#)
        #expect(places.filled { $0 == "code" ? "x" : .none }?.text == #"{"code":"x"}"#)
        #expect(try places.values(in: JSONText(parsing: whole)).map(\.key) == ["text"])
    }

    @Test(
        "what was sent is found again under the names of the fields",
        arguments: [#"{"Its Text":"new","sizes":{"first":[3],"all":{"n":3}}}"#])
    func foundAgain(_ body: String) throws {
        let places = try #require(try Self.entity("body: { $fields: \(Self.nested) }").push.update.first?.body)
        let found = places.values(in: try JSONText(parsing: body)).map { "\($0.key)=\($0.value.plain)" }
        #expect(found == ["text=new", "size=3", "size=3"])
    }

    @Test(
        "names that cannot be are refused with what to write",
        arguments: [
            ("body: { a: { $fields: { x: txt } } }", "no field txt; did you mean text?"),
            ("body: { a: { $fields: { x: text }, b: 1 } }", "nothing can stand beside $fields"),
            ("body: { a: { $fields: { x: [text, size] } } }", "expected one field in the list"),
            ("body: { $fields: { a: { $or_null: { b: 1 } } } }", "expected the name of a field in $or_null"),
            ("body: { $fields: { a: { $or_null: text, b: size } } }", "nothing can stand beside $or_null"),
            ("body: { $fields: { a: { $each: tags } } }", "$each stands in a list: [{ name: { $each: tags } }]"),
            ("body: { $fields: { a: [{ b: { $each: text } }] } }", "text after $each is no list"),
            ("body: { $fields: { a: [{ b: { $each: tags }, c: size }] } }", "no other field can stand beside $each"),
            ("body: { $fields: { a: [{ $each: [tags] }] } }", "expected the name of a field of type list"),
            ("body: { kind: { $text: note }, <<: { $fields: { t: text } } }", "$text can only stand in $fields"),
            ("body: { a: { $or_null: size }, <<: $fields }", "$or_null can only stand in $fields"),
            ("body: { billing: { email: text } }", "names inside others stand in $fields: { … }"),
            (#"body: { update: { "{id}": $fields } }"#, "{id} cannot be a value there"),
        ])
    func wrongNames(_ route: String, _ words: String) {
        #expect {
            try Self.entity(route)
        } throws: {
            "\($0)".contains(words)
        }
    }

    @Test(
        "an action sends what it names, and none of the fields: their values are in the body or choose the route",
        arguments: [
            ("fields: [text], when: { text: new }, body: {}", "{}"),
            (#"fields: [text], when: { text: new }, body: { ids: ["{id}"], go: true }"#, #"{"ids":["a"],"go":true}"#),
            (#"fields: [text], body: { set: { to: "{text}" } }"#, #"{"set":{"to":"new"}}"#),
        ])
    func actions(_ route: String, _ expected: String) throws {
        #expect(try Self.sent(route).body?.text == expected)
    }

    @Test("a body of another media type says so")
    func mediaTypes() throws {
        let request = try Self.sent("encoding: application/vnd.api+json, body: { data: $fields }")
        #expect(request.headers == [WireRequest.Header("Content-Type", "application/vnd.api+json"), .json])
        #expect(
            try Self.sent("fields: [text]").headers == [WireRequest.Header("Content-Type", "application/json"), .json])
    }

    @Test(
        "what cannot be is refused with what to write",
        arguments: [
            ("body: { data: { text: words } }", "once, in its place"),
            (#"body: { ids: ["{id}"] }"#, "once, in its place"),
            (#"fields: [text], body: { ids: ["{id}"] }"#, "add it to body, or its value to when"),
            ("fields: [text], body: {}", "add it to body, or its value to when"),
            ("body: { a: $fields, b: $fields }", "once, in its place"),
            (#"body: { a: $fields, b: "{id} {text}" }"#, "one {field} or {$key} alone"),
            ("body: { a: $fields, b: $field }", "$fields"), ("body: { data: $field }", "did you mean $fields?"),
            (#"body: { a: $fields, b: "{tex}" }"#, "tex"), (#"body: { a: $fields, b: "{code}" }"#, "code is secret"),
            ("encoding: text/plain", "media type of a JSON body"), ("encoding: application/xml", "media type"),
        ])
    func refusals(_ route: String, _ words: String) {
        #expect {
            try Self.entity(route)
        } throws: { ($0 as? SchemaError)?.description.contains(words) == true }
    }
}

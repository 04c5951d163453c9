import JSONText
import Testing

@testable import EntitySchema

@Suite("How the fields of a change are written for the upstream")
struct BodyEncodingTests {
    private static func schema(_ routes: String, key: String = "id", version: String = "") throws -> EntitySchema {
        let yaml = """
            schema: small
            upstream: { base_url: "http://localhost"\(version.isEmpty ? "" : ", version: \(version)") }
            entities:
              notes:
                key: \(key)
                fields:
                  id: { type: string }
                  text: { type: string }
                  size: { type: integer }
                  price: { type: money, wire: string }
                  done: { type: boolean, wire: string }
                  tags: { type: list }
                  place: { type: object }
                  revision: { type: string }
                pull: { path: /notes }
                push: { \(routes) }
            """
        return try EntitySchema(yaml: yaml, file: "small.yaml")
    }

    private static func sent(
        _ routes: String, key: String = "id", as operation: Operation = .update, changing fields: String,
        from remote: String? = nil, version: String = "", at known: String? = nil
    ) throws -> WireRequest {
        let schema = try schema(routes, key: key, version: version)
        let entity = try #require(schema["notes"])
        let body = try JSONText(parsing: fields)
        let before = try JSONText(parsing: remote ?? #"{"id":"a"}"#)
        let request = entity.request(
            for: operation, record: before.setting(body), body: body, version: known,
            remote: remote == nil ? .none : before)
        return try #require(request).request(schema.upstream, idempotencyKey: "k")
    }

    private static let update = #"update: { call: "PATCH /notes/{id}""#

    @Test(
        "a form has nested values in brackets, null as an empty text, and anything but text as JSON",
        arguments: [
            (#"{"text":"a b&c=d","size":3}"#, "text=a%20b%26c%3Dd&size=3"),
            (#"{"text":null,"tags":["x","y"]}"#, "text=&tags%5B%5D=x&tags%5B%5D=y"),
            (#"{"tags":[]}"#, "tags%5B%5D="),
            (#"{"place":{}}"#, "place="),
            (#"{"place":{"city":"Leeds","at":{}}}"#, "place%5Bcity%5D=Leeds&place%5Bat%5D="),
            (#"{"place":{"city":"Leeds","at":{"x":1.50}}}"#, "place%5Bcity%5D=Leeds&place%5Bat%5D%5Bx%5D=1.50"),
        ])
    func forms(_ fields: String, _ expected: String) throws {
        let request = try Self.sent("\(Self.update), encoding: form }", changing: fields)
        #expect(request.text == expected)
        #expect(request.body == nil)
        #expect(request.headers == [WireRequest.Header("Content-Type", "application/x-www-form-urlencoded"), .json])
    }

    @Test("a boolean that the upstream has in quotes is sent in quotes, and means the same without them")
    func quotedBoolean() throws {
        let request = try Self.sent("\(Self.update) }", changing: #"{"done":true}"#)
        #expect(request.body?.text == #"{"done":"true"}"#)
        let field = try #require(try Self.schema("\(Self.update) }")["notes"]?[field: "done"])
        #expect(field.meant("false") == false)
        #expect(field.meant("7") == "7")
        #expect(field.isSame("true", true))
    }

    @Test("a form can be enclosed as well")
    func enclosedForms() throws {
        let request = try Self.sent(
            "\(Self.update), encoding: form, body: { note: $fields } }", changing: #"{"text":"x"}"#)
        #expect(request.text == "note%5Btext%5D=x")
    }

    @Test("a JSON patch has one operation for each field, its name escaped")
    func jsonPatches() throws {
        let routes = "\(Self.update), encoding: application/json-patch+json, body: { a/b~c: text, size: size } }"
        let request = try Self.sent(routes, changing: #"{"text":"x","size":null}"#)
        let expected =
            #"[{"op":"add","path":"/a~1b~0c","value":"x"},{"op":"add","path":"/size","value":null}]"#
        #expect(request.body?.text == expected)
        #expect(request.headers == [WireRequest.Header("Content-Type", "application/json-patch+json"), .json])
    }

    @Test(
        "a merge patch names the members of an object that change, and those that go as null",
        arguments: [
            (#"{"a":1,"b":2}"#, #"{"a":1}"#, #"{"a":1,"b":null}"#),
            (#"{"a":{"x":1,"y":2}}"#, #"{"a":{"y":3},"c":4}"#, #"{"a":{"y":3,"x":null},"c":4}"#),
            ("null", #"{"a":1}"#, #"{"a":1}"#), (#"{"a":1}"#, "null", "null"),
        ])
    func mergePatches(_ before: String, _ after: String, _ expected: String) throws {
        let request = try Self.sent(
            "\(Self.update), encoding: application/merge-patch+json }", changing: #"{"place":\#(after)}"#,
            from: #"{"id":"a","place":\#(before)}"#)
        #expect(request.body?.text == #"{"place":\#(expected)}"#)
    }

    @Test(
        "$record sends the whole record with the changes, $fields only what changes, whatever the method",
        arguments: [
            ("PATCH", "", #"{"text":"new"}"#), ("PUT", "", #"{"id":"a","text":"new","size":3}"#),
            ("PATCH", ", body: $record", #"{"id":"a","text":"new","size":3}"#),
            ("PUT", ", body: $fields", #"{"text":"new"}"#),
            ("PUT", ", body: { note: $fields }", #"{"note":{"text":"new"}}"#),
            ("PATCH", ", body: { note: $record }", #"{"note":{"id":"a","text":"new","size":3}}"#),
        ])
    func wholeRecords(_ method: String, _ body: String, _ expected: String) throws {
        let request = try Self.sent(
            #"update: { call: "\#(method) /notes/{id}"\#(body) }"#, changing: #"{"text":"new"}"#,
            from: #"{"id":"a","text":"old","size":3}"#)
        #expect(request.body?.text == expected)
    }

    @Test(
        "a number that the upstream has in quotes is sent in quotes, digit for digit",
        arguments: ["12.50", "\"12.50\""])
    func quotedNumbers(_ price: String) throws {
        let request = try Self.sent("\(Self.update) }", changing: #"{"price":\#(price),"size":3}"#)
        #expect(request.body?.text == #"{"price":"12.50","size":3}"#)
    }

    @Test(
        "a creation that sends the whole record has nested fields in their places",
        arguments: [
            ("PUT", "", #"{"id":"a","who":{"name":"Ada"}}"#),
            ("POST", ", body: $record", #"{"id":"a","who":{"name":"Ada"}}"#),
            ("POST", "", #"{"id":"a","name":"Ada"}"#), ("PUT", ", fields: [name]", #"{"name":"Ada"}"#),
        ])
    func nestedCreations(_ method: String, _ more: String, _ expected: String) throws {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: http://localhost }
                entities:
                  notes:
                    fields: { id: { type: string }, name: { type: string, from: who.name } }
                    pull: { path: /notes }
                    push: { create: { call: "\(method) /notes/{id}"\(more) } }
                """, file: "s.yaml")
        let record = try JSONText(parsing: #"{"id":"a","name":"Ada"}"#)
        let request = try #require(schema["notes"]).request(for: .create, record: record, body: record)
        #expect(request?.body?.text == expected)
    }

    @Test("a key that the upstream makes is not sent")
    func keysOfTheServer() throws {
        let request = try Self.sent(
            "create: { call: POST /notes }", key: "{ field: id, made: server }", as: .create,
            changing: #"{"id":"local","text":"x"}"#)
        #expect(request.body?.text == #"{"text":"x"}"#)
    }

    @Test("a version stands in its header as the schema says")
    func versions() throws {
        let request = try Self.sent(
            "\(Self.update) }", changing: #"{"text":"x"}"#,
            version: #"{ field: revision, header: If-Match, value: '"{revision}"' }"#, at: "7")
        #expect(request.headers.first == WireRequest.Header("If-Match", "\"7\""))
    }

    @Test(
        "what cannot be is refused with what to write",
        arguments: [
            (
                "create: { call: POST /notes, encoding: application/json-patch+json }", "id",
                "only a PATCH sends a patch"
            ),
            (
                #"update: { call: "PATCH /notes/{id}", encoding: application/json-patch+json, body: { a: $fields } }"#,
                "id",
                "nothing around it"
            ),
            ("create: { call: POST /notes, encoding: xml }", "id", "expected json, form"),
            ("create: { call: POST /notes, look_up: key }", "{ made: server }", "use match"),
            (#"create: { call: "PUT /notes/{id}" }"#, "{ made: server }", "the path has the key"),
            ("", "{ made: \"[a-z]{3}\" }", "2^60"), ("", "{ made: nanoid }", "expected server, uuid"),
            ("", "{ field: size, made: \"[a-z0-9]{15}\" }", "not of type string"),
        ])
    func refusals(_ routes: String, _ key: String, _ words: String) {
        #expect {
            try Self.schema(routes, key: key)
        } throws: { ($0 as? SchemaError)?.description.contains(words) == true }
    }
}

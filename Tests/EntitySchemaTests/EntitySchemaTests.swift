import Foundation
import JSONText
import TestSupport
import Testing

@testable import EntitySchema

@Suite("Schema files")
struct EntitySchemaTests {
    private static let folder = ProjectFiles.root.appending(path: "config/schemas")

    private static let small = """
        schema: small
        upstream:
          base_url: http://localhost
          pagination: { style: page }
        entities:
          notes:
            title: "{text}"
            fields:
              id: { type: string }
              text: { type: string }
            pull: { path: /notes }
            push:
              create:
                - { when: { text: secret }, call: "POST /notes/hidden", body: { content: text } }
                - { call: POST /notes, fields: [text] }
              update: { call: "PATCH /notes/{id}" }
        """

    @Test("the schema for fuzzing is valid")
    func fuzzed() throws {
        let file = ProjectFiles.root.appending(path: "Fuzz/schema.yaml")
        #expect(try EntitySchema(yaml: String(contentsOf: file, encoding: .utf8), file: file.path)["orders"] != nil)
    }

    @Test("a file may say its version, as a text or a number")
    func version() throws {
        func named(_ version: String) throws -> String? {
            try EntitySchema(yaml: "version: \(version)\n" + Self.small, file: "s.yaml").version
        }
        #expect(try EntitySchema(yaml: Self.small, file: "s.yaml").version == nil)
        #expect(try named("7") == "7")
        #expect(try named("1.10") == "1.10")
        #expect(try named("'2026-11-26'") == "2026-11-26")
        for wrong in ["a b", "[1]", "''"] { #expect(throws: SchemaError.self) { try named(wrong) } }
    }

    @Test("the Repair Minder schema has its five entities, in the order of pulling")
    func repairMinder() throws {
        let file = Self.folder.appending(path: "repairminder.yaml")
        let schema = try EntitySchema(yaml: String(contentsOf: file, encoding: .utf8), file: file.path)
        #expect(schema.entities.map(\.name) == ["clients", "orders", "devices", "tickets", "ticket_messages"])
        #expect(schema["orders"]?[relation: "client"]?.entity == "clients")
        #expect(schema["devices"]?[field: "passcode"]?.secret == true)
        #expect(schema["clients"]?[field: "last_name"]?.search == .words)
        #expect(schema["clients"]?[field: "phone"]?.search == .fragments)
        #expect(schema["clients"]?[field: "total_spent"]?.search == nil)
        #expect(schema["orders"]?.operations == [.create, .update])
        let status = try #require(schema["devices"]?[field: "status"])
        guard case .enum(let values) = status.kind else { throw SchemaError(file: "", line: 0, key: "", problem: "") }
        #expect(values.count == 11)
    }

    @Test(
        "each example schema is valid, and its three entities can be read and written",
        arguments: try FileManager.default.contentsOfDirectory(atPath: folder.path + "/examples").sorted())
    func example(_ name: String) throws {
        let text = try ProjectFiles.text("config/schemas/examples/\(name)")
        let schema = try EntitySchema(yaml: text, file: name, settings: ["user": "sync@example.com"])
        #expect(schema.name + ".yaml" == name)
        #expect(schema.entities.map(\.name) == ["customers", "orders", "lines"])
        for entity in schema.entities {
            #expect(entity.pull != nil && entity.operations == [.create, .update, .delete], "\(entity.name)")
        }
    }

    @Test("an example whose setting is not in the configuration is refused with the name of the setting")
    func missingSetting() throws {
        let text = try ProjectFiles.text("config/schemas/examples/pocketbase.yaml")
        let error = #expect(throws: SchemaError.self) { try EntitySchema(yaml: text, file: "pocketbase.yaml") }
        #expect(error?.line == 12 && error?.problem.contains("upstream.settings.user") == true)
        #expect(error?.problem.contains("--setting user=VALUE") == true)
    }

    @Test(
        "an invalid file is rejected with line, key and what was expected",
        arguments: [
            ("    notes:", "    sync:", 6, "entities.sync", "word of the local API"),
            ("    notes:", "    schema:", 6, "entities.schema", "word of the local API"),
            ("    notes:", "    sync_notes:", 6, "entities.sync_notes", "reserved for the database"),
            (
                "text: { type: string }", "text: { type: strin }", 10, "entities.notes.fields.text.type",
                "did you mean string?"
            ),
            (
                "text: { type: string }", "text: { typ: string }", 10, "entities.notes.fields.text.typ",
                "did you mean type?"
            ),
            (
                "text: { type: string }", "text: { type: string, waits_for: note.text }", 10,
                "entities.notes.fields.text.waits_for", "there is no entity note"
            ),
            (
                "text: { type: string }", "text: { type: string, waits_for: notes.id }", 10,
                "entities.notes.fields.text.waits_for", "needs a field id with index: true"
            ),
            (
                "text: { type: string }", "text: { type: string, waits_for: notes }", 10,
                "entities.notes.fields.text.waits_for", "expected an entity and its field"
            ),
            (
                "text: { type: string }", "text: { type: string, secret: true, search: true }", 10,
                "entities.notes.fields.text", "a secret field cannot be searched"
            ),
            (
                "text: { type: string }", "text: { type: money, search: true }", 10,
                "entities.notes.fields.text.search",
                "only fields of type string, enum or integer"
            ),
            (
                "text: { type: string }", "text: { type: string, search: parts }", 10,
                "entities.notes.fields.text.search", "expected words (or true), fragments or false"
            ),
            ("text: { type: string }", "limit: { type: string }", 10, "entities.notes.fields.limit", "query parameter"),
            (
                "text: { type: string }", "labels: { type: string }", 10, "entities.notes.fields.labels",
                "query parameter"
            ),
            (
                "text: { type: string }", "te-xt: { type: string }", 10, "entities.notes.fields.te-xt",
                "cannot be a name"
            ),
            (
                "text: { type: string }", "text: { type: reference, to: note }", 10, "entities.notes.fields.text",
                "did you mean notes?"
            ),
            ("style: page", "style: pages", 4, "upstream.pagination.style", "expected one of the paging styles"),
            ("style: page", "style: pages", 4, "upstream.pagination.style", "did you mean page?"),
            ("title: \"{text}\"", "title: \"{tetx}\"", 7, "entities.notes.title", "did you mean text?"),
            ("base_url: http://localhost", "base_url: localhost", 3, "upstream.base_url", "https://"),
            ("title: \"{text}\"", "title: \"{txt}\"", 7, "entities.notes.title", "did you mean text?"),
            ("title: \"{text}\"", "title: \"{text\"", 7, "entities.notes.title", "closed"),
            (
                "PATCH /notes/{id}", "PATCH notes/{id}", 16, "entities.notes.push.update.call",
                "expected a method and a path"
            ),
            (
                "text: { type: string }", "text: { type: reference, to: notes, as: history }", 10,
                "entities.notes.fields.text", "cannot name a relation"
            ),
            (
                "pull: { path: /notes }", "pull: { path: /notes, mode: newest_first }", 11, "entities.notes.pull.mode",
                "needs changed_at"
            ),
            ("pull: { path: /notes }", "sort: text", 11, "entities.notes.sort", "index: true"),
            (
                "pull: { path: /notes }", "order_within: { by: text }", 11, "entities.notes.order_within.by",
                "unknown key by"
            ),
            (
                "pull: { path: /notes }", "order_within: { wait_for_failed: false }", 11, "entities.notes.order_within",
                "the key field is missing"
            ),
        ])
    func refuses(_ found: String, _ replacement: String, _ line: Int, _ key: String, _ message: String) {
        let yaml = Self.small.replacing(
            found.trimmingCharacters(in: .whitespaces), with: replacement.trimmingCharacters(in: .whitespaces))
        #expect {
            try EntitySchema(yaml: yaml, file: "small.yaml")
        } throws: { error in
            guard let error = error as? SchemaError else { return false }
            return (error.file, error.line, error.key) == ("small.yaml", line, key) && error.problem.contains(message)
        }
    }

    @Test("entities, fields, values and relations keep the order of the file")
    func order() throws {
        let schema = try EntitySchema(
            yaml: """
                schema: order
                upstream: {}
                entities:
                  zebras:
                    fields:
                      id: { type: string }
                      stripe: { type: enum, values: { wide: Wide, narrow: Narrow, 10: Ten, 9: Nine, absent: None } }
                      herd_id: { type: reference, to: herds }
                      age: { type: integer }
                    many: { younger: { of: apes, by: zebra_id }, apes: { of: apes, by: zebra_id } }
                    pull: { path: /zebras }
                  apes: { pull: { path: /apes }, fields: { zebra_id: { type: reference, to: zebras }, id: { type: string } } }
                  herds: { pull: { path: /herds }, fields: { id: { type: string } } }
                """, file: "order.yaml")
        #expect(schema.entities.map(\.name) == ["zebras", "apes", "herds"])
        let zebras = try #require(schema["zebras"])
        #expect(zebras.fields.map(\.name) == ["id", "stripe", "herd_id", "age"])
        #expect(zebras.relations.map(\.name) == ["herd", "younger", "apes"])
        guard case .enum(let values)? = zebras[field: "stripe"]?.kind else { throw CancellationError() }
        #expect(values.map(\.value) == ["wide", "narrow", "10", "9", "absent"])
        #expect(values.map(\.label) == ["Wide", "Narrow", "Ten", "Nine", "None"])
    }

    @Test("#15 a change time that is no time is refused", arguments: ["integer", "number", "money", "list"])
    func changeTime(_ type: String) {
        // Where no time is sent, numbers are times since 1970.
        let isNumber = ["integer", "number"].contains(type)
        for pull in ["since: { param: since, field: at }"] + (isNumber ? [] : ["mode: newest_first, changed_at: at"]) {
            let yaml = Self.small
                .replacing("text: { type: string }", with: "text: { type: string }\n      at: { type: \(type) }")
                .replacing("pull: { path: /notes }", with: "pull: { path: /notes, \(pull) }")
            expectRefusal("at is of type \(type), but change times") {
                try EntitySchema(yaml: yaml, file: "small.yaml")
            }
            #expect(throws: Never.self) {
                try EntitySchema(yaml: yaml.replacing("type: \(type)", with: "type: time"), file: "small.yaml")
            }
        }
    }

    @Test("text that is not YAML is rejected with its line")
    func notYAML() {
        #expect {
            try EntitySchema(yaml: "schema: [a\nupstream: }", file: "x.yaml")
        } throws: { ($0 as? SchemaError)?.line == 2 }
    }

    @Test(
        "text that is not YAML is rejected with what to do about it",
        arguments: [
            ("a:\n    b: 1\n   c: 2", "check the indentation"), ("a:\n\tb: 1", "indent with spaces, not tabs"),
            ("a: b: c", "put quotes around a text with a colon"), ("a: { b: 1", "close the bracket"),
            ("a: \"b", "close the quote"),
        ])
    func advice(_ text: String, _ advice: String) {
        expectRefusal(advice) { try EntitySchema(yaml: text, file: "x.yaml") }
    }

    @Test("a change takes the first route whose conditions its record meets, and only the fields it names")
    func routes() throws {
        let notes = try #require(EntitySchema(yaml: Self.small, file: "small.yaml")["notes"])
        let hidden = try JSONText(parsing: #"{"id":"a","text":"secret"}"#)
        let open = try JSONText(parsing: #"{"id":"a","text":"open"}"#)
        #expect(
            notes.request(for: .create, record: hidden, body: hidden)
                == PushRequest(
                    entity: "notes", method: "POST", path: "/notes/hidden", body: JSONText.object(["content": "secret"])
                ))
        #expect(
            notes.request(for: .create, record: open, body: open)
                == PushRequest(entity: "notes", method: "POST", path: "/notes", body: JSONText.object(["text": "open"]))
        )
        #expect(notes.request(for: .delete, record: open, body: open) == nil)
    }

    @Test(
        "a key can never be more than one segment of a path",
        arguments: ["a/b", "..x", "a?b#c", "å", "%2f"])
    func keysInPaths(_ key: String) throws {
        let notes = try #require(EntitySchema(yaml: Self.small, file: "small.yaml")["notes"])
        let record = JSONText.object(["id": .string(key)])
        let path = try #require(notes.request(for: .update, record: record, body: record)?.path)
        #expect(path.hasPrefix("/notes/"))
        #expect(!path.dropFirst("/notes/".count).contains { "/?#".contains($0) })
        #expect(path.dropFirst("/notes/".count).removingPercentEncoding == key)
    }

    @Test("a record's title is the first template that can be filled, else its key")
    func titles() throws {
        let notes = try #require(EntitySchema(yaml: Self.small, file: "small.yaml")["notes"])
        #expect(try notes.title(of: JSONText(parsing: #"{"id":"a","text":"hello"}"#)) == "hello")
        #expect(try notes.title(of: JSONText(parsing: #"{"id":"a","text":null}"#)) == "a")
    }

    @Test(
        "durations are a whole number and a unit",
        arguments: [("500ms", 500), ("30s", 30_000), ("15m", 900_000), ("24h", 86_400_000)])
    func durations(_ text: String, _ milliseconds: Int64) {
        #expect(Duration(text: text)?.milliseconds == milliseconds)
        #expect(Duration(text: text + "x") == nil)
        #expect(Duration(text: "-" + text) == nil)
    }
}

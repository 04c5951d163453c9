import EntitySchema
import TestSupport
import Testing

@testable import SchemaDraft

@Suite("Drafting from odd documents")
struct OddDocumentTests {
    /// Around one list of objects whose schema is given.
    private static func document(_ items: String, _ components: String = "{}") -> String {
        """
        { "openapi": "3.1.0", "info": { "title": "Odd" }, "components": { "schemas": \(components) }, "paths": { "/things": { "get": {
        "responses": { "200": { "content": { "application/json": { "schema": { "type": "array", "items": \(items) } } } } } } } } }
        """
    }

    @Test(
        "What is no description of an API is refused in words",
        arguments: [
            "", "[]", "null", "{}", "{", "\u{0}", "openapi: 3.0.0", "{\"openapi\": \"3.0.0\", \"paths\": 7}",
            "{\"swagger\": \"2.0\", \"paths\": {}}", "a: &a [*a]", "paths: { /a: { get: 7 } }\nopenapi: 3",
        ])
    func refused(_ text: String) { #expect(throws: SchemaDraftError.self) { try SchemaDraft.of(text) } }

    @Test(
        "Another document is named, with what to do",
        arguments: [
            ("<!DOCTYPE html><html></html>", "it is a web page"),
            (#"{ "info": { "_postman_id": "a" }, "item": [] }"#, "it is a Postman collection"),
            (#"{ "log": { "entries": [] } }"#, "it is a recording of calls"),
            (#"{ "asyncapi": "3.0.0" }"#, "it describes messages"), (#"{ "data": { "__schema": {} } }"#, "GraphQL"),
            (#"{ "urls": [{ "url": "/v3/api-docs/shop" }] }"#, "/v3/api-docs/shop"),
            ("openapi: 3.0.3\npaths: { /orders: { $ref: paths/orders.yaml } }", "paths/orders.yaml"),
            ("openapi: 3.0.3\npaths: { /orders: { get: { $ref: \"paths/get.yaml\" } } }", "bundle them"),
        ])
    func other(_ text: String, _ words: String) {
        #expect {
            try SchemaDraft.of(text)
        } throws: { ($0 as? SchemaDraftError)?.message.contains(words) == true }
    }

    @Test("A name that repeats the words of a change time takes no longer than another one", .timeLimit(.minutes(1)))
    func longTime() throws {
        func things(_ time: String) throws -> Entity? {
            let times = #""id": { "type": "string" }, "\#(time)": { "type": "string", "format": "date-time" }"#
            let kind = #""schema": { "type": "string", "format": "date-time" }"#
            let since = #"{ "name": "updated_since", "in": "query", \#(kind) }"#
            let text = Self.document(#"{ "type": "object", "properties": { \#(times) } }"#)
                .replacing(#""get": {"#, with: #""get": { "parameters": [\#(since)],"#)
            return try SchemaDraft.of(text).schema["things"]
        }
        let name = "updated" + String(repeating: "timestamp", count: 20)
        #expect(try things("\(name)x")?.pull?.changedAt == nil)
        #expect(try things("updated_timestamp")?.pull?.changedAt == "updated_timestamp")
    }

    @Test("A document in UTF-16 is read as any other, but not in half of a character", arguments: [true, false])
    func wide(_ isLittle: Bool) throws {
        let text = Self.document(#"{ "type": "object", "properties": { "id": { "type": "string", "title": "№ 𝄞" } } }"#)
        let mark: [UInt8] = isLittle ? [0xFF, 0xFE] : [0xFE, 0xFF]
        let bytes = text.utf16.reduce(into: mark) { bytes, unit in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            bytes += isLittle ? [low, high] : [high, low]
        }
        let document = try OpenAPIDocument(DocumentParser.value(of: bytes))
        let draft = try SchemaDrafter(document, source: "test").draft()
        #expect(draft.schema["things"]?.key == "id", "\(draft.yaml)")
        for cut in [mark, mark + [0x7B], Array(bytes.dropLast())] {
            #expect(throws: SchemaDraftError.self) { try OpenAPIDocument(DocumentParser.value(of: cut)) }
        }
    }

    @Test("Rings of references end")
    func rings() throws {
        let ring = ##"{ "A": { "$ref": "#/components/schemas/B" }, "B": { "$ref": "#/components/schemas/A" } }"##
        #expect(throws: SchemaDraftError.self) {
            try SchemaDraft.of(Self.document(##"{ "$ref": "#/components/schemas/A" }"##, ring))
        }
        let whole =
            ##"{ "A": { "allOf": [{ "$ref": "#/components/schemas/A" }, { "$ref": "#/components/schemas/A" }], "properties": { "id": { "type": "string" }, "parent": { "$ref": "#/components/schemas/A" } } } }"##
        let draft = try SchemaDraft.of(Self.document(##"{ "$ref": "#/components/schemas/A" }"##, whole))
        #expect(draft.schema["things"]?.key == "id")
    }

    @Test("A description that has the same parts very many times over is looked at in part")
    func repeated() throws {
        let part = ##"{ "$ref": "#/components/schemas/A" }"##
        let names = (0..<1000).map { #""p\#($0)": { "type": "string" }"# }.joined(separator: ",")
        let ring = Array(repeating: part, count: 60).joined(separator: ",")
        let members = (0..<30).map { #""m\#($0)": \#(part)"# }.joined(separator: ",")
        let draft = try SchemaDraft.of(
            Self.document(
                #"{ "type": "object", "properties": { "id": { "type": "string" }, \#(members) } }"#,
                #"{ "A": { "type": "object", "properties": { \#(names) }, "allOf": [\#(ring)] } }"#))
        #expect(draft.schema["things"]?.key == "id")
    }

    @Test("Nesting without end is refused")
    func deep() {
        let text = String(repeating: "[", count: 100_000)
        #expect(throws: SchemaDraftError.self) { try SchemaDraft.of(text) }
        let flow = "openapi: " + String(repeating: "{a: ", count: 5000)
        #expect(throws: SchemaDraftError.self) { try SchemaDraft.of(flow) }
        let block = String(repeating: "- ", count: 100_000) + "a"
        #expect(throws: SchemaDraftError.self) { try SchemaDraft.of(block) }
    }

    @Test("Names with endless combining marks are refused before they are compared", .timeLimit(.minutes(1)))
    func marks() {
        let marks = String(repeating: "\u{301}\u{327}", count: 100_000)
        let names = ["id", "a\(marks)", "a\(marks)b"].map { #""\#($0)": { "type": "string" }"# }
        let text = Self.document(#"{ "type": "object", "properties": { \#(names.joined(separator: ", ")) } }"#)
        #expect(throws: SchemaDraftError.self) { try SchemaDraft.of(text) }
    }

    @Test("Aliases of aliases are refused before they fill the memory")
    func bomb() {
        let lines = (1...30).map {
            "a\($0): &a\($0) [\(Array(repeating: "*a\($0 - 1)", count: 9).joined(separator: ","))]"
        }
        let text = "a0: &a0 [x, x]\n" + lines.joined(separator: "\n")
        #expect(throws: SchemaDraftError.self) { try SchemaDraft.of(text) }
    }

    @Test("A document with an empty title is drafted", arguments: ["", " "])
    func title(_ text: String) throws {
        let items = #"{ "type": "object", "properties": { "id": { "type": "integer" } } }"#
        let draft = try SchemaDraft.of(Self.document(items).replacing("\"Odd\"", with: "\"\(text)\""))
        #expect(draft.paths.map(\.path) == ["/things"])
    }

    @Test(
        "Odd names, labels and numbers give a schema all the same",
        arguments: [
            #"{ "type": "object", "properties": { "id": { "type": "string" }, "a b": { "type": "string" }, "": { "type": "string" }, "x\"y": { "type": "string" }, "é": { "type": "string" }, "ID2": {}, "_sync": { "type": "object" }, "Count": { "type": "integer" }, "count": { "type": "integer" } } }"#,
            ##"{ "type": "object", "properties": { "id": { "type": "integer", "maximum": 1e999 }, "kind": { "type": "string", "enum": ["", "yes", "{$setting.x}", "a: b", "#", "\u0007", "null", "1"] } } }"##,
            #"{ "type": ["null", "object"], "properties": { "id": { "type": ["string", "null"] }, "n": { "type": 7 }, "m": { "enum": 3 }, "o": { "oneOf": "x" } } }"#,
            #"{ "type": "object", "required": "id", "properties": { "uuid": { "anyOf": [{ "type": "string" }, { "type": "null" }] }, "things": { "type": "array", "items": { "type": "array" } } } }"#,
        ])
    func odd(_ items: String) throws {
        let draft = try SchemaDraft.of(Self.document(items))
        #expect(throws: Never.self) { try EntitySchema(yaml: draft.yaml, file: "odd.yaml") }
    }

    @Test(
        "Whatever is changed in a document, the draft is a schema or a refusal in words",
        arguments: TestRun.seeds(1, full: 20))
    func mutated(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let names = [
            "paypal-products.json", "gotify.json", "xero-files.yaml", "up-banking.json", "moov-customers.yaml",
        ]
        let name = names[random.below(names.count)]
        let root = try DocumentParser.value(of: Documents.bytes(name))
        for _ in 0..<(TestRun.isFull ? 60 : 15) {
            var changes = 1 + random.below(40)
            let changed = Self.mutated(root, &random, &changes)
            guard let document = try? OpenAPIDocument(changed),
                let draft = try? SchemaDrafter(document, source: name).draft()
            else { continue }
            let settings = Dictionary(draft.settings.map { ($0, "1") }) { first, _ in first }
            #expect(throws: Never.self, "\(TestRun.note(seed))") {
                try EntitySchema(yaml: draft.yaml, file: name, settings: settings)
            }
        }
    }

    private static let oddities: [DocumentValue] = [
        .null, .array([]), .object(DocumentObject([])), .scalar("99999999999999999999999", isPlain: true),
        .scalar("{$setting.x}", isPlain: false), .scalar("a\u{85}b: #{", isPlain: false),
        .scalar("true", isPlain: true),
        .object(DocumentObject([("$ref", .scalar("#/paths", isPlain: false))])),
        .object(DocumentObject([("$ref", .scalar("#", isPlain: false))])), .scalar("array", isPlain: false),
        .scalar("object", isPlain: false), .scalar(String(repeating: "x", count: 5000), isPlain: false),
    ]

    /// Replaces values at random places, removes members and doubles them under other names.
    private static func mutated(_ value: DocumentValue, _ random: inout SeededRandom, _ left: inout Int)
        -> DocumentValue
    {
        guard left > 0 else { return value }
        if random.below(400) == 0 {
            left -= 1
            return random.pick(oddities) ?? .null
        }
        switch value {
        case .scalar: return value
        case .array(let elements): return .array(elements.map { mutated($0, &random, &left) })
        case .object(let object):
            var members: [(name: String, value: DocumentValue)] = []
            for (name, value) in object.members {
                if random.below(500) == 0 { continue }
                let odd =
                    random.below(500) == 0
                    ? ["", "id", "a.b", "{x}", "$ref", "/{a}/{a}", "null"][random.below(7)] : name
                members.append((odd, mutated(value, &random, &left)))
            }
            return .object(DocumentObject(members))
        }
    }
}

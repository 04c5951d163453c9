import Testing

@testable import EntitySchema

@Suite("YAML values")
struct YAMLValueTests {
    private func value(_ text: String) throws -> YAMLValue {
        try #require(try YAMLValue(parsing: "key: \(text)")?.members?.first?.value)
    }

    @Test("only plain text is a boolean", arguments: [("true", true), ("No", false), ("ON", true)])
    func boolean(text: String, expected: Bool) throws {
        #expect(try value(text).boolean == expected)
        #expect(try value("\"\(text)\"").boolean == nil)
    }

    @Test("other text is no boolean", arguments: ["tRUE", "1", "y", "[true]", "{ a: true }", "~"])
    func noBoolean(text: String) throws {
        #expect(try value(text).boolean == nil)
    }

    @Test("only plain digits are a number")
    func integer() throws {
        #expect(try value("12").integer == 12)
        #expect(try value("-1_000").integer == -1000)
        #expect(try value("'12'").integer == nil)
        #expect(try value("1.5").integer == nil)
    }

    @Test("an alias stands for its value")
    func alias() throws {
        let document = try #require(try YAMLValue(parsing: "a: &shared { b: 1 }\nc: *shared"))
        #expect(document.members?.last?.value.members?.first?.value.integer == 1)
    }

    @Test("aliases of aliases that expand to a huge document are rejected")
    func expansion() {
        let levels = (1...9).map { level in
            "l\(level): &l\(level) [\(Array(repeating: level == 1 ? "x" : "*l\(level - 1)", count: 10).joined(separator: ", "))]"
        }
        #expect(throws: SchemaError.self) { try SchemaNode(yaml: levels.joined(separator: "\n"), file: "bomb.yaml") }
    }

    @Test(
        "a key that is an alias, a list or a mapping is refused before anything is made of it",
        arguments: [
            "? *a39\n: 1", "*a39 : 1", "y: { *a39 : 1 }", "x: { ? [*a39] : 1 }", "? - *a39\n: 1", "[*a39]: 1",
            "x: {{b: *a39}: 1}",
        ])
    func hugeKeys(key: String) {
        let levels = (0...39).map { "a\($0): &a\($0) \($0 == 0 ? "[x, x]" : "[*a\($0 - 1), *a\($0 - 1)]")\n" }
        let error = #expect(throws: YAMLError.self) { try YAMLDocument.root(of: levels.joined() + key) }
        #expect(error?.line != nil)
        let small = #expect(throws: YAMLError.self) {
            try YAMLDocument.root(of: "a39: &a39 [x]\n" + key)
        }
        #expect(small?.problem.contains("cannot be a key") == true && small?.line != nil)
    }

    @Test("what aliases expand to is counted before it is made, and so is a long text")
    func counted() throws {
        #expect(throws: YAMLError.self) { try YAMLDocument.root(of: "[a, b, c]", limit: 4) }
        #expect(try YAMLDocument.root(of: "[a, b, c]", limit: 5) != nil)
        #expect(throws: YAMLError.self) { try YAMLDocument.root(of: "a: &a [x, y]\nb: *a\nc: *a", limit: 13) }
        #expect(try YAMLDocument.root(of: "a: &a [x, y]\nb: *a\nc: *a", limit: 14) != nil)
    }

    @Test("very many directives, each of which would be compared with all others, are refused before that")
    func directives() throws {
        func text(_ count: Int) -> String {
            (1...count).map { "%TAG !e\($0)! tag:x,\($0):\n" }.joined() + "--- { a: 50% }\n"
        }
        #expect(try YAMLDocument.root(of: text(100)) != nil)
        let error = #expect(throws: YAMLError.self) { try YAMLDocument.root(of: text(101)) }
        #expect(error?.problem.contains("%TAG directives") == true)
    }

    @Test("a mistake in a long line is told without the line")
    func longLine() {
        let error = #expect(throws: YAMLError.self) {
            try YAMLDocument.root(of: "a: \"\(String(repeating: "x", count: 100_000))\" b")
        }
        #expect((error?.description.count ?? .max) < 300)
    }

    @Test("the texts of field kinds are those that databases hold")
    func kinds() {
        #expect("\(Field.Kind.string)" == "string")
        #expect("\(Field.Kind.reference(to: "orders"))" == #"reference(to: "orders")"#)
        let values = [Field.EnumValue(value: "a", label: "A \"b\""), Field.EnumValue(value: "c", label: "C")]
        #expect(
            "\(Field.Kind.enum(values))" == """
                enum([EntitySchema.Field.EnumValue(value: "a", display: "A \\"b\\""), \
                EntitySchema.Field.EnumValue(value: "c", display: "C")])
                """)
    }
}

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

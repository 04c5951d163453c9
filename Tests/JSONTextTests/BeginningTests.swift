import JSONText
import Testing

@Suite("The beginning of a value")
struct BeginningTests {
    @Test("only the first members of an object are looked at", arguments: 0...4)
    func members(_ most: Int) throws {
        let value = try JSONText(parsing: #"{ "a" : 1, "b\u00e9":{"c":[2, 3]} , "a":"}" }"#)
        let found = value.members(atMost: most)
        #expect(found.map(\.key) == Array(value.members.map(\.key).prefix(most)))
        #expect(found.map(\.value) == Array(value.members.map(\.value).prefix(most)))
        #expect(value.elements(atMost: most).isEmpty)
    }

    @Test("only the first elements of a list are looked at", arguments: 0...5)
    func elements(_ most: Int) throws {
        let value = try JSONText(parsing: #"[ 1 ,"]",{"a":[2]}, [] ]"#)
        #expect(value.elements(atMost: most) == Array(value.elements.prefix(most)))
        #expect(value.members(atMost: most).isEmpty)
    }

    @Test("what is empty, or no list and no object, has no parts", arguments: ["{}", "[ ]", "{ }", "[]", "1", "\"a\""])
    func nothing(_ text: String) throws {
        let value = try JSONText(parsing: text)
        #expect(value.members(atMost: 9).isEmpty)
        #expect(value.elements(atMost: 9).isEmpty)
    }

    @Test("text with more values than allowed is refused")
    func values() throws {
        let text = Array("[1,[2]]".utf8)[...]
        #expect(try JSONText(text, atMost: 4).elementCount == 2)
        #expect(throws: JSONError.self) { try JSONText(text, atMost: 3) }
    }
}

import JSONText
import Testing

@Suite("JSON by the letter of RFC 8259")
struct ParsingTests {
    @Test("what is JSON is accepted and kept byte for byte", arguments: JSONCase.accepted + JSONCase.kept)
    func accepted(_ json: JSONCase) throws {
        let value = try JSONText(json.input)
        #expect(Array(value.bytes) == trimmed(json.input))
        #expect(value == (try JSONText(Array(value.bytes))))
    }

    @Test("what is read from JSON and written again is equal", arguments: JSONCase.accepted + JSONCase.kept)
    func rewritten(_ json: JSONCase) throws {
        let value = try JSONText(json.input)
        let written = rebuilt(value)
        #expect(try JSONText(Array(written.bytes)) == written)
        // A lone surrogate is no character: decoded, it becomes U+FFFD.
        if !JSONCase.kept.contains(where: { $0.name == json.name && $0.input.contains(UInt8(ascii: "\\")) }) {
            #expect(written.isEquivalent(to: value))
        }
    }

    @Test("what is not JSON is refused, also without duplicate names", arguments: JSONCase.refused + JSONCase.left)
    func refused(_ json: JSONCase) {
        #expect(throws: JSONError.self) { try JSONText(json.input) }
        #expect(throws: JSONError.self) { try JSONText(unambiguous: json.input) }
    }

    @Test("what is JSON is also accepted where names may not repeat, unless they do", arguments: JSONCase.accepted)
    func unambiguous(_ json: JSONCase) {
        let repeats = json.name.hasSuffix("twice")
        #expect(((try? JSONText(unambiguous: json.input)) == nil) == repeats)
    }

    @Test("no prefix of an array, an object or a string is JSON", arguments: JSONCase.accepted)
    func prefixes(_ json: JSONCase) {
        let bytes = trimmed(json.input)
        guard let first = bytes.first, "[{\"".utf8.contains(first), bytes.count < 1000 else { return }
        for count in 0..<bytes.count { #expect((try? JSONText(Array(bytes[..<count]))) == nil, "\(count) bytes") }
    }

    /// Text, and how many numbers that do not exist it has; nil where it is no JSON even with zeros in their places.
    private static let nonFiniteTexts: [(text: String, count: Int?)] = [
        ("[NaN]", 1), ("[Infinity,-Infinity]", 2), (#"{"a":NaN,"b":"NaN"}"#, 1), ("[NaNNaN]", nil), (#"["\"NaN"]"#, 0),
        ("[1NaN]", 0), ("[-NaN]", 0), ("[1-Infinity]", 0), ("[--Infinity]", 0), ("[1.Infinity]", 0), ("[1eNaN]", 0),
        ("[nan]", 0),
    ]

    @Test(
        "NaN and the infinities are numbers that do not exist only in the place of a value", arguments: nonFiniteTexts)
    func nonFinite(_ text: String, _ count: Int?) throws {
        let repaired = RepairedJSON(Array(text.utf8)[...])
        if let count { #expect((repaired?.numbers.count ?? 0) == count) }
        let isReadable = repaired.map { (try? JSONText($0.text)) != nil } ?? false
        #expect(isReadable == ((count ?? 0) > 0))
    }

    /// Bytes, each as a character, and what they become; nil for JSON.
    private static let brokenStrings: [(bytes: String, repaired: String?)] = [
        (#"["\#u{C3}\#u{A9}\u00e9\n\"",{"a":"\\"}]"#, nil), ("[\"a\u{1}b\",\"\n\"]", #"["a?b","?"]"#),
        (#"["\x41\'\u12","\ud8"]"#, #"["?x41?'?u12","?ud8"]"#),
        ("[\"caf\u{E9}\",\"a\u{E2}\u{82}\u{C3}\u{A9}\"]", #"["caf?","a??é"]"#),
        ("[\"\",NaN,\"\t\"]", #"["",0  ,"?"]"#),
    ]

    @Test("a byte that no string may have is replaced by another one", arguments: brokenStrings)
    func brokenString(_ characters: String, _ repaired: String?) {
        let text = characters.unicodeScalars.map { UInt8($0.value) }
        let found = RepairedJSON(text[...])
        #expect(found.map { String(decoding: $0.text, as: UTF8.self) } == repaired)
        for place in found?.bytes ?? [] { #expect(found?.text[place] == UInt8(ascii: "?")) }
        #expect((try? JSONText(found?.text ?? text)) != nil)
    }

    private func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        let space: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
        let start = bytes.drop { space.contains($0) }
        let end = start.lastIndex { !space.contains($0) }.map { $0 + 1 } ?? start.endIndex
        return Array(start[..<end])
    }

    /// The same value, made of what its accessors return.
    private func rebuilt(_ value: JSONText) -> JSONText {
        switch value.kind {
        case .object: .object(members: value.members.map { ($0.key, rebuilt($0.value)) })
        case .array: .array(value.elements.map(rebuilt))
        case .string: .string(value.string ?? "")
        case .boolean, .null, .number: value
        }
    }
}

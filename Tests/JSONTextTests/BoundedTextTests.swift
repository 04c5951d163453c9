import JSONText
import Testing

@Suite("The beginning of a text")
struct BoundedTextTests {
    /// One character.
    private static let marked = "a" + String(repeating: "\u{301}", count: 1000)

    @Test(
        "a text is cut after so many Unicode scalars",
        arguments: [
            ("", ""), ("abc", "abc"), ("abcd", "abc"), ("äöü€", "äöü"), ("a😀b😀", "a😀b"),
            (marked, "a\u{301}\u{301}"),
        ])
    func start(_ text: String, _ start: String) {
        #expect(Array(text.start(scalars: 3).utf8) == Array(start.utf8))
        #expect(text.isLonger(thanScalars: 3) == (text.utf8.count > start.utf8.count))
    }

    @Test("a part of a text is cut in the same way")
    func part() {
        let part = "1\(Self.marked)".dropFirst()
        #expect(part.start(scalars: 2).utf8.count == 3)
    }
}

import JSONText
import Testing

@Suite("Texts that are compared byte for byte")
struct ExactTextTests {
    private let composed = ExactText("caf\u{E9}")
    private let apart = ExactText("cafe\u{301}")

    @Test("texts that look the same, in other bytes, are two")
    func equivalent() {
        #expect(composed.text == apart.text)
        #expect(composed != apart)
        #expect([composed.text, apart.text, composed.text].exactSet.count == 2)
        // Two orders of the same marks have as many bytes.
        #expect(ExactText("e\u{323}\u{302}") != ExactText("e\u{302}\u{323}"))
    }

    @Test("the same bytes are the same text, however it was made")
    func same() {
        let built = (["caf", "\u{E9}"] as [String]).joined()
        #expect(built.exact == composed && built.exact.hashValue == composed.hashValue)
        #expect(ExactText("") == ExactText("") && ExactText("") != ExactText("a"))
    }

    @Test("they are sorted by their bytes")
    func order() {
        let texts: [ExactText] = [composed, "b", "", apart, "cafe", "\u{10000}", "\u{FFFD}", "a"]
        let expected: [ExactText] = ["", "a", "b", "cafe", apart, composed, "\u{FFFD}", "\u{10000}"]
        #expect(texts.sorted() == expected)
    }
}

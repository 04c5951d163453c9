import JSONText
import Testing

@Suite("Runs of combining marks")
struct MarkRunTests {
    /// Three marks, each as UTF-8 and escaped.
    private static let marks = ["\u{315}", #"\u0316"#, "\u{1D165}", #"\uD834\uDD65"#, #"\u0300"#, "\u{20D0}"]

    @Test(
        "a run is found wherever it stands in a JSON text, in any notation, at the mark that is too much",
        arguments: marks)
    func everywhere(_ mark: String) {
        for before in 0..<140 {
            let start = #"["\#(String(repeating: "a", count: before))"#
            let allowed = start + String(repeating: mark, count: 128)
            #expect(offsets(allowed + #"b\#(mark)"]"#) == [])
            #expect(offsets(allowed + mark + mark + #""]"#) == [allowed.utf8.count])
        }
    }

    @Test("each run that is too long is found once, and others are not")
    func several() {
        let (long, short) = (String(repeating: "\u{316}", count: 200), String(repeating: "\u{315}", count: 100))
        let text = #"["a\#(long)","b\#(short)\\n\#(short)","c\#(short)\u{316}\#(long)"]"#
        #expect(offsets(text).count == 2)
        #expect(!MarkRun.areShort(inJSON: Array(text.utf8)[...], upTo: 128))
        #expect(MarkRun.areShort(inJSON: Array(text.utf8)[...], upTo: 400))
    }

    @Test(
        "other characters make no run",
        arguments: ["é", "\u{E31}", "क्", "각", "\u{200D}", "😀", #"\\u0316"#, #"\u00e9"#, #"\ud800"#])
    func others(_ text: String) {
        #expect(offsets(#"["\#(String(repeating: text, count: 1000))"]"#) == [])
    }

    @Test("of bytes that are no text, nothing is expected", arguments: 0..<256)
    func noText(_ byte: Int) {
        #expect(offsets([UInt8](repeating: UInt8(byte), count: 1000)) == [])
    }

    @Test("JSON is shortened by whole marks, in any notation", arguments: marks)
    func shortenedJSON(_ mark: String) {
        let text = { #"["a\#(String(repeating: mark, count: $0))","\\\#(mark)é😀"]"# }
        for (count, kept) in [(128, 128), (129, 128), (500, 128)] {
            let shortened = MarkRun.shortened(inJSON: Array("x\(text(count))".utf8).dropFirst(), upTo: 128)
            #expect(shortened == Array(text(kept).utf8))
        }
    }

    @Test("a text is shortened by whole marks: each that is too much is replaced")
    func shortened() {
        let text = "a" + String(repeating: "\u{316}", count: 32)
        #expect(Array(MarkRun.shortened(text).unicodeScalars.dropFirst(30)) == ["\u{316}", "\u{FFFD}", "\u{316}"])
        #expect(MarkRun.areShort(in: MarkRun.shortened(text)) && !MarkRun.areShort(in: text))
    }

    private func offsets(_ text: String) -> [Int] { offsets(Array(text.utf8)) }

    private func offsets(_ bytes: [UInt8]) -> [Int] { MarkRun.offsets(inJSON: bytes[...], beyond: 128) }
}

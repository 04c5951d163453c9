import JSONText
import Testing

@testable import repairminder_sync

@Suite("Terminal text")
struct TerminalTextTests {
    @Test("ordinary text is unchanged, in any language", arguments: ["Ada\tLovelace\n", "日本", "👩‍👩‍👧 é e\u{301}", "עברית"])
    func plain(_ text: String) {
        #expect(TerminalText.safe(text) == text)
    }

    @Test("every control character is shown, not obeyed")
    func controls() {
        let controls = (0...0x9F as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init)
            .filter { $0.properties.generalCategory == .control && $0 != "\n" && $0 != "\t" }
        #expect(controls.count == 63)
        for control in controls {
            let shown = TerminalText.safe("a\(control)b")
            #expect(shown.unicodeScalars.allSatisfy { (0x20...0x7E).contains($0.value) }, "\(control.value)")
            #expect(shown.hasPrefix("a\\u00"))
        }
        #expect(TerminalText.safe("\u{1B}]0;owned\u{7}") == #"\u001b]0;owned\u0007"#)
        #expect(TerminalText.safe("a\rb") == #"a\u000db"#)
        #expect(TerminalText.safe("a\r\nb") == "a\\u000d\nb")
    }

    @Test(
        "text cannot be shown in another order", arguments: ["\u{202E}", "\u{2066}", "\u{2069}", "\u{200F}", "\u{61C}"])
    func directions(_ mark: String) {
        #expect(TerminalText.safe("user\(mark)nimda").unicodeScalars.allSatisfy { $0.isASCII })
    }

    @Test("a cell stays one line", arguments: ["a\nb", "a\r\nb", "a\tb", "a\u{85}b", "a\u{2028}b"])
    func lines(_ text: String) {
        let line = TerminalText.line(text)
        #expect(line == "a b" || line == "a  b")
    }

    @Test("escaped JSON is the same JSON")
    func json() throws {
        let text = "{\"a\":\"x\u{9B}31m\u{7F}\u{202E}y\"}"
        let shown = TerminalText.safe(text)
        #expect(shown == #"{"a":"x\u009b31m\u007f\u202ey"}"#)
        let (before, after) = (try JSONText(parsing: text), try JSONText(parsing: shown))
        #expect(after["a"]?.string == before["a"]?.string)
    }
}

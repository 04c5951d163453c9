import Testing

@testable import repairminder_sync

@Suite struct ShellWordTests {
    @Test(
        "a text from elsewhere is one word of a shell, and nothing in it is run",
        arguments: [
            ("https://api.example/v1/openapi.json", "https://api.example/v1/openapi.json"),
            ("https://x/?a=1&b", "'https://x/?a=1&b'"), ("x;reboot", "'x;reboot'"), ("$(id)", "'$(id)'"),
            ("a'b", #"'a'\''b'"#), ("~root", "'~root'"), ("a b", "'a b'"), ("", "''"), ("é", "'é'"),
        ])
    func quotes(_ text: String, _ word: String) {
        #expect(ShellWord.quoted(text) == word)
    }

    @Test("a quote ends no word also if a combining mark follows, with which it is one character")
    func combinedQuote() {
        let word = ShellWord.quoted("a'\u{301};reboot")
        #expect(Array(word.utf8) == Array("'a'\\''\u{301};reboot'".utf8))
    }

    @Test("where a document is elsewhere, the address of the server's answer is quoted")
    func elsewhere() {
        #expect(DocumentSource.elsewhere("x;reboot") == "it is elsewhere: use --from 'x;reboot'")
    }
}

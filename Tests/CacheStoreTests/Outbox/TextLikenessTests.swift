import Testing

@testable import CacheStore

@Suite("Texts that a server may have made of others")
struct TextLikenessTests {
    @Test(
        "escaped, cut, with other spaces, signs, case or normal form",
        arguments: [
            ("Tom & Jerry", "Tom &amp; Jerry"), ("<b>", "&lt;b&gt;"), ("Zoë", "Zo&#235;"), ("Zoë", "Zoe\u{308}"),
            ("a text of more than ten letters", "a text of "), ("two\nlines", "two\r\nlines"),
            ("two  spaces", "two spaces"),
            ("ada lovelace", "Ada Lovelace"), ("it's", "it’s"),
        ])
    func alike(_ sent: String, _ answer: String) {
        #expect(TextLikeness.mayBecome(sent, answer))
    }

    @Test(
        "other texts are not",
        arguments: [("Tom", "Tim"), ("Tomorrow", "Tom"), ("Tom", "Tomorrow"), ("Tom", ""), ("", "!")])
    func other(_ sent: String, _ answer: String) {
        #expect(!TextLikeness.mayBecome(sent, answer))
    }
}

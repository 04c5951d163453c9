import Testing

@testable import CacheStore

@Suite("Texts that a server may have made of others")
struct TextLikenessTests {
    @Test(
        "escaped, without tags, cut, with other spaces, signs, case, accents or normal form, or with a number around it",
        arguments: [
            ("Tom & Jerry", "Tom &amp; Jerry"), ("<b>", "&lt;b&gt;"), ("Zoë", "Zo&#235;"), ("Zoë", "Zoe\u{308}"),
            ("a text of more than ten letters", "a text of "), ("two\nlines", "two\r\nlines"),
            ("two  spaces", "two spaces"),
            ("ada lovelace", "Ada Lovelace"), ("it's", "it’s"),
            ("a <b>bold</b> text", "a bold text"), ("a text", "<p>a text</p>"),
            ("Jürgen", "Jurgen"), ("Jürgen", "Juergen"), ("Jürgen", "J?rgen"), ("Jürgen", "JÃ¼rgen"),
            ("Broken screen", "[#12] Broken screen"), ("Broken screen", "Broken screen (2)"), ("my-slug", "my-slug-2"),
            ("shop.example", "https://shop.example/"), ("Shop.example/a", "http://www.shop.example/a"),
            ("07700 900123", "+447700900123"), ("+44 (0)7700 900123", "00447700900123"),
        ])
    func alike(_ sent: String, _ answer: String) {
        #expect(TextLikeness.mayBecome(sent, answer))
    }

    @Test(
        "other texts are not",
        arguments: [
            ("Tom", "Tim"), ("Tomorrow", "Tom"), ("Tom", "Tomorrow"), ("Tom", ""), ("", "!"),
            ("Jürgen", "Jörg"), ("Jürgen", "Bürgen"), ("Überfluss", "Großer Überfluss"), ("Заказ 12", "Отчёт 12"),
            ("Broken screen", "Broken screen fixed"), ("Order 10", "Order 102"), ("Tom", "Tom (2)"),
            ("07700 900123", "+447700900124"), ("2026-11-27", "2025-11-27"), ("112", "+44112"), ("<b>", "<i>"),
        ])
    func other(_ sent: String, _ answer: String) {
        #expect(!TextLikeness.mayBecome(sent, answer))
    }

    @Test("tags are left out of a long text too, also where many begin and none ends")
    func long() {
        let text = String(repeating: "many words ", count: 2000)
        #expect(TextLikeness.mayBecome(text, "<p>\(text)</p>"))
        #expect(TextLikeness.mayBecome("a < b <c>and</c> d", "a and d"))
        let open = String(repeating: "<", count: 100_000)
        #expect(TextLikeness.mayBecome("\(open)one", "one"))
        #expect(!TextLikeness.mayBecome("\(open)one", "\(open)two"))
    }

    @Test(
        "marks with escapes, tags or white space between them are compared at once", .timeLimit(.minutes(1)),
        arguments: ["&#769;&#807;", "<i>\u{301}</i>\u{327}", "\n\u{64E}\n\u{651}"])
    func manyMarks(marks: String) {
        // Only texts that begin alike are compared in their normal form.
        #expect(!TextLikeness.mayBecome("twofold", "two" + String(repeating: marks, count: 200_000)))
    }
}

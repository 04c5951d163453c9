import JSONText
import Testing

@testable import EntitySchema

@Suite("What values mean")
struct MeaningTests {
    private func field(_ kind: Field.Kind, set: Bool = false) -> Field {
        var field = Field(name: "f", kind: kind)
        field.mergesAsSet = set
        return field
    }

    private func json(_ text: String) throws -> JSONText { try JSONText(parsing: text) }

    @Test(
        "#9 values that a server only writes otherwise are the same",
        arguments: [
            (Field.Kind.money, "12.5", #""12.50""#), (.number, "1e3", "1000"), (.integer, #""7""#, "7"),
            (.time, #""2026-11-21T10:42:00Z""#, #""2026-11-21T11:42:00.000+01:00""#), (.boolean, "true", "1"),
            (.boolean, #""false""#, "0"), (.reference(to: "orders"), "1001", #""1001""#), (.string, "5", #""5""#),
            (.string, "\"e\u{301}\"", "\"\u{e9}\""), (.string, #""a\r\nb\n""#, #""a\nb\r\n""#),
            (.string, #""\r\n\r\né\r""#, #""\n\né\r""#),
            (.list, "[1,2]", #"["1","2"]"#),
        ])
    func same(kind: Field.Kind, one: String, other: String) throws {
        #expect(field(kind).isSame(try json(one), try json(other)))
        #expect(field(kind).isSame(try json(other), try json(one)))
    }

    @Test(
        "values that differ are not the same",
        arguments: [
            (Field.Kind.money, "12.5", "12.51"), (.time, #""2026-11-21T10:42:00Z""#, #""2026-11-21T10:42:01Z""#),
            (.boolean, "true", "0"), (.string, #""a""#, #""A""#), (.string, "null", #""""#), (.list, "[1,2]", "[2,1]"),
            (.money, #""twelve""#, "12"), (.object, #"{"a":1}"#, #"{"a":2}"#), (.boolean, "null", "false"),
        ])
    func different(kind: Field.Kind, one: String, other: String) throws {
        #expect(!field(kind).isSame(try json(one), try json(other)))
    }

    @Test("the form that a server made of a value is recognized")
    func forms() throws {
        let cases: [(Field.Kind, String, String, Set<NormalForm>)] = [
            (.string, #""  a b ""#, #""a b""#, [.trimmed]), (.string, #"" Ab""#, #""ab""#, [.trimmed, .lowercased]),
            (.string, #""ab""#, #""AB""#, [.uppercased]), (.string, #""Maß""#, #""MASS""#, [.uppercased]),
            (.money, "12.346", "12.35", [.rounded]),
            (.money, "12.346", #""12.34""#, [.rounded]), (.money, "9.996", "10", [.rounded]),
            (.money, "-0.004", "0", [.rounded]), (.money, "19.99", "19.989999771118164", [.single]),
            (.number, "0.3", "0.30000000000000004", [.single]),
            (.time, #""2026-11-21T10:42:07.123Z""#, #""2026-11-21T10:42:07Z""#, [.seconds]),
            (.time, #""2026-11-21T10:42:07Z""#, #""2026-11-21T10:42:00Z""#, [.minutes]),
            (.string, #""A & <B>""#, #""A &amp; &lt;B&gt;""#, [.escaped]),
            (.string, #"" it's ""#, #""it&#039;s""#, [.trimmed, .escaped]),
            (.string, #""A & <B>""#, #""A &#38; &#60;B&#62;""#, [.escaped]),
            (.string, #""1/2 = é""#, #""1&#x2F;2 &#61; &#233;""#, [.escaped]),
            (.string, #""a\nb\n""#, #""a\r\nb""#, [.trimmed]), (.string, #""a\n&""#, #""a\r\n&amp;""#, [.escaped]),
            (.string, #""a""#, #""<p>a</p>\n""#, [.paragraphs]),
            (.string, #""a\nb\n\nc""#, #""<p>a<br />\nb</p>\n<p>c</p>\n""#, [.paragraphs]),
            (.string, #""a & b""#, #""<p>a &#038; b</p>\r\n""#, [.escaped, .paragraphs]),
            (.string, #"" a  b\n c""#, #""a b c""#, [.squished]),
            (.string, #""(555) 123-4567""#, #""5551234567""#, [.separated]),
            (.string, #""+442079460000 ""#, #""+44 20 7946 0000""#, [.separated]),
            (.string, #""A  &""#, #""A &amp;""#, [.squished, .escaped]),
            (.string, #""b,A""#, #""A; b""#, [.named]), (.string, #""b,A""#, #""a; b""#, [.named, .lowercased]),
            (.list, #"["A","b"]"#, #"["a","b"]"#, [.named, .lowercased]),
            (.list, #"["A","b","A"]"#, #"[{"name":"A"},{"name":"b"}]"#, [.named]),
            (.list, #"["b","A"]"#, #"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#, [.named, .lowercased, .sorted]),
            (.list, "[2,1]", "[1,2]", [.sorted]), (.string, #""""#, "null", [.emptied]), (.money, "1", #""1.00""#, []),
        ]
        for (kind, value, answer, forms) in cases {
            #expect(field(kind).forms(from: try json(value), to: try json(answer)) == forms, "\(value) to \(answer)")
        }
    }

    @Test(
        "another number of the same 32 bits, and other digits between the same separators, are other values",
        arguments: [
            (Field.Kind.money, "300000.01", "300000.02"), (.number, "1764510000", "1764510050"),
            (.number, "16777217", "16777218"), (.string, #""192.168.1.11""#, #""192.168.11.1""#),
            (.string, #""1.11.2026""#, #""11.1.2026""#), (.string, #""12-345678""#, #""123-45678""#),
        ])
    func otherValues(kind: Field.Kind, value: String, answer: String) throws {
        #expect(field(kind).forms(from: try json(value), to: try json(answer)) == nil)
        #expect(!field(kind).isSame(try json(value), try json(answer), under: [.single, .separated]))
    }

    @Test(
        "a time may have been rounded to steps of minutes, or read by another clock",
        arguments: [
            ("08:03:20Z", "08:00:00Z", true), ("08:03:20Z", "08:05:00Z", true), ("08:16:00Z", "08:30:00Z", true),
            ("08:07:00Z", "08:06:00Z", true), ("08:00:00Z", "08:30:00Z", false), ("08:03:20Z", "08:07:00Z", false),
            ("08:03:20Z", "08:35:00Z", false), ("08:03:20Z", "08:03:20+01:00", true),
            ("22:03:20Z", "07:03:20Z", false), ("08:03:20.345Z", "09:03:20", true), ("08:03:20Z", "10:03:00", true),
            ("08:03:20Z", "13:33:20", true), ("08:03:20Z", "13:48:20", true), ("08:03:20Z", "09:33:20", false),
            ("08:03:20.345Z", "09:03:22", false), ("08:03:20Z", "05:33:20", true),
        ])
    func movedTimes(_ sent: String, _ answer: String, _ mayBe: Bool) throws {
        let (sent, answer) = (try json("\"2026-11-21T\(sent)\""), try json("\"2026-11-21T\(answer)\""))
        #expect(field(.time).mayHaveMoved(sent, to: answer) == mayBe)
        #expect(field(.time).forms(from: sent, to: answer) == nil && !field(.string).mayHaveMoved(sent, to: answer))
    }

    /// Of each field what was sent, values that do not say so, and others.
    private static let rewritten: [(Field.Kind, String, [String], [String])] = [
        (.money, "12.5", [#""$12.50""#, #""1.234,50""#, #"{"amount":12.5}"#, "1250"], ["125", #""12.00""#, "null"]),
        (.integer, "1234567890123456789", ["1234567890123456800", "1.2345678901234568e+18"], ["7"]),
        (.boolean, "true", [#""yes""#, #""Y""#], ["false", "0", "null", #""""#]),
        (.date, #""2026-11-25""#, [#""11/25/2026""#, "1795564800"], [#""2026-11-20""#, "null"]),
        (.time, #""2026-11-25T10:11:12Z""#, ["1795601472", #""25 Nov 2026 10:11""#], [#""2026-11-20T10:00:00Z""#]),
        (.enum([]), #""open""#, ["1", #"{"id":1}"#], [#""new""#]),
        (.string, #""a""#, [#"{"text":"a"}"#], [#""b""#, "5"]),
        (.reference(to: "orders"), #""5""#, [#""/api/orders/5""#, #"{"id":5}"#], [#""15""#, #""/api/orders/15""#]),
        (.list, #"["a"]"#, [#""a""#, #"{"data":["a"]}"#, "1"], [#"["b"]"#]),
        (.object, #"{"a":1}"#, [#""a: 1""#], ["{}"]),
    ]

    @Test("a value of another type, or in another unit, does not say what was sent", arguments: rewritten)
    func unreadable(kind: Field.Kind, sent: String, unreadable: [String], readable: [String]) throws {
        for value in unreadable { #expect(field(kind).isUnreadable(try json(value), like: try json(sent)), "\(value)") }
        for value in readable { #expect(!field(kind).isUnreadable(try json(value), like: try json(sent)), "\(value)") }
    }

    @Test(
        "a day may have become a time, or the day beside it",
        arguments: [
            ("2026-11-30T00:00:00.000Z", true), ("2026-11-30T00:00:00", true), ("2026-11-29T23:00:00Z", true),
            ("2026-11-29", true), ("2026-12-02", false), ("2026-11-28T23:00:00Z", false), ("soon", false),
        ])
    func movedDays(_ answer: String, _ mayBe: Bool) throws {
        #expect(field(.date).mayHaveMoved(try json(#""2026-11-30""#), to: .string(answer)) == mayBe)
    }

    @Test("text that a server trims at one end alone is trimmed", arguments: [#""  a b""#, #""a b  ""#])
    func trimmedAtOneEnd(_ answer: String) throws {
        #expect(field(.string).forms(from: try json(#""  a b  ""#), to: try json(answer)) == [.trimmed])
    }

    @Test("false is no value where no boolean belongs", arguments: ["null", #""""#])
    func falseForNothing(_ nothing: String) throws {
        for kind in [Field.Kind.string, .reference(to: "orders"), .date, .time] {
            #expect(field(kind).forms(from: try json(nothing), to: try json("false")) == [.emptied])
        }
        #expect(field(.boolean).forms(from: try json(nothing), to: try json("false")) == nil)
        #expect(field(.string).forms(from: try json(nothing), to: try json("true")) == nil)
        #expect(field(.string).forms(from: try json(nothing), to: try json(#""false""#)) == nil)
    }

    @Test("an empty text is no value, also where a number or a boolean belongs")
    func emptyForNothing() throws {
        for kind in [Field.Kind.integer, .number, .money, .boolean] {
            #expect(field(kind).forms(from: .null, to: try json(#""""#)) == [.emptied])
            #expect(field(kind).forms(from: .null, to: try json("1")) == nil)
        }
    }

    @Test("zero is what servers store for nothing in numbers, booleans, days, times and lists, and in no text")
    func zero() throws {
        for (kind, value) in [
            (Field.Kind.money, #""0.00""#), (.integer, "0"), (.boolean, "false"), (.date, #""0001-01-01""#),
            (.time, #""0000-00-00 00:00:00""#), (.list, "[]"), (.object, "[]"), (.object, "{}"),
        ] {
            #expect(field(kind).isZero(try json(value)), "\(kind)")
            #expect(!field(kind).isZero(.null))
        }
        #expect(!field(.money).isZero(try json("0.01")))
        #expect(!field(.string).isZero(try json(#""0""#)))
    }

    @Test("where text is known to be escaped, its HTML is the same, and other text is not")
    func escaped() throws {
        let field = field(.string)
        #expect(field.isSame(try json(#""A & \"B\"""#), try json(#""A &amp; &quot;B&#34;""#), under: [.escaped]))
        #expect(field.isSame(try json(#""&x; &amp;""#), try json(#""&x; &""#), under: [.escaped]))
        #expect(!field.isSame(try json(#""A & B""#), try json(#""A B""#), under: [.escaped]))
    }

    @Test("where text is known to come as paragraphs, it is the same with and without them")
    func paragraphs() throws {
        let field = field(.string)
        #expect(field.isSame(try json(#""<p>a</p>\n""#), try json(#""a""#), under: [.paragraphs]))
        #expect(!field.isSame(try json(#""<p>a</p>\n""#), try json(#""b""#), under: [.paragraphs]))
        #expect(!field.isSame(try json(#""<p>a</p>\n""#), try json(#""a""#)))
    }

    @Test(
        "another value is no normal form",
        arguments: [
            (Field.Kind.string, #""a""#, #"" a""#), (.string, #""a""#, #""b""#), (.money, "12.3", "12.34"),
            (.money, "19.99", "19.9899"), (.integer, "16777217", "16777216"),
            (.money, "12.346", "12.36"), (.time, #""2026-11-21T10:42:07Z""#, #""2026-11-21T10:43:07Z""#),
            (.list, "[1]", "[1,2]"), (.string, #""A &amp; B""#, #""A & B""#),
            (.string, #""A & B""#, #""A &amp;amp; B""#), (.string, #""a""#, #""<p>b</p>""#),
            (.string, #""<p>a</p>""#, #""a""#), (.string, #""a b""#, #""a  b""#), (.string, #""a  b""#, #""ab""#),
            (.string, #""  a  ""#, #"" a""#), (.string, #""a,b""#, #""a,c""#), (.list, #"["a"]"#, #"[{"name":"b"}]"#),
            (.string, #""(555) 123-4567""#, #""5551234568""#), (.string, #""12-34""#, #""1234""#),
            (.string, #""555-1234 x""#, #""5551234 y""#), (.string, #""1,000,000""#, #""1,000""#),
            (.string, #""48,11""#, #""11,48""#), (.list, "[8,8]", "[8]"),
            (.list, "[1,2]", #"[{"id":5,"position":1},{"id":6,"position":2}]"#),
            (.list, #"["tag"]"#, #"[{"name":"a","kind":"tag"},{"name":"b","kind":"tag"}]"#),
        ])
    func noForm(kind: Field.Kind, value: String, answer: String) throws {
        #expect(field(kind).forms(from: try json(value), to: try json(answer)) == nil)
    }

    @Test("a set is the same in any order")
    func set() throws {
        #expect(field(.list, set: true).isSame(try json(#"["a","b"]"#), try json(#"["b","a"]"#)))
    }

    @Test(
        "the elements of a set are the same as values of a list are",
        arguments: [
            (#"[1,"2",null]"#, #"[null,2,1.0]"#, true), (#"[[1.0],{"a":1,"b":2}]"#, #"[{"b":2e0,"a":1},[1]]"#, true),
            (#"["a","a"]"#, #"["a"]"#, true), ("[true]", #"["true"]"#, true),
            ("[1e99999999,1]", "[1,1e99999999]", true),
            ("[1.0]", #"["1"]"#, false), ("[null]", #"["null"]"#, false), ("[[1]]", #"[["1"]]"#, false),
            (#"["a"]"#, #"["a","b"]"#, false), ("[]", "[null]", false), (#"["a",1,true]"#, #"["a","true",1.0]"#, true),
            (#"["a","b","a"]"#, #"["a","b"]"#, true), (#"["a","b"]"#, #"["a","c"]"#, false),
        ])
    func elements(one: String, other: String, isSame: Bool) throws {
        #expect(try field(.list, set: true).isSame(json(one), json(other)) == isSame)
        #expect(try field(.list, set: true).isSame(json(other), json(one)) == isSame)
    }

    @Test(
        "what only looks like an escaped character is text",
        arguments: [
            ("&", "&"), ("&&amp;", "&&"), ("&amp", "&amp"), ("&;", "&;"), ("&#;", "&#;"), ("&#x;", "&#x;"),
            ("&#+65;&#-0;", "&#+65;&#-0;"), ("&#0000065;", "A"), ("&#00000065;", "&#00000065;"),
            ("&#X41;&#x000041;", "AA"), ("&#x0000041;", "&#x0000041;"),
            ("&#xD800;", "&#xD800;"), ("&AMP;&nbsp;", "&AMP;&nbsp;"), ("é&lt;é", "é<é"), ("&amp;lt;", "&lt;"),
        ])
    func unescaped(html: String, text: String) {
        #expect(HTMLText.unescaped(html) == text)
    }

    @Test("a text whose 300,000 characters come back escaped is recognized, and another text is not")
    func manyEscapes() {
        let text = JSONText.string(String(repeating: "&", count: 300_000))
        let escaped = JSONText.string(String(repeating: "&amp;", count: 300_000))
        let other = JSONText.string(String(repeating: "&", count: 300_000) + "z")
        #expect(field(.string).forms(from: text, to: escaped) == [.escaped])
        #expect(field(.string).forms(from: text, to: other) == nil)
    }

    @Test("a text many times as long as what was sent is told apart at once", .timeLimit(.minutes(1)))
    func longAnswer() {
        let answer = JSONText.string(String(repeating: "&amp; ", count: 300_000))
        for _ in 0..<10 { #expect(field(.string).forms(from: "abc", to: answer) == nil) }
    }

    @Test("a text without its escapes has no more marks in a row than a record may have")
    func escapedMarks() {
        let text = HTMLText.unescaped("a" + String(repeating: "&#769;&#807;", count: 1000))
        #expect(MarkRun.areShort(in: text, upTo: MarkRun.longestUpstream))
    }

    @Test("marks with white space between them are compared at once", .timeLimit(.minutes(1)))
    func manyMarks() {
        let answer = JSONText.string("a" + String(repeating: "\n\u{301}\n\u{327}", count: 200_000))
        let other = JSONText.string("a" + String(repeating: "b ", count: 300_000))
        #expect(field(.string).forms(from: other, to: answer) == nil)
    }

    @Test("a list of 30,000 elements is recognized in another order")
    func longList() {
        let numbers = (0..<30_000).map { JSONText.integer($0) }
        let list = JSONText.array(numbers)
        let reversed = JSONText.array(Array(numbers.reversed()))
        let texts: [JSONText] = numbers.reversed().map { .string($0.text) }
        #expect(field(.list).forms(from: list, to: reversed) == [.sorted])
        #expect(field(.list, set: true).isSame(list, .array(texts)))
        #expect(field(.list).forms(from: list, to: .array(Array(texts.dropLast()) + ["other"])) == nil)
    }
}

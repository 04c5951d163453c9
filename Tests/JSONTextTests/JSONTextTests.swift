import Glibc
import JSONText
import Testing

@Suite("JSON kept as text")
struct JSONTextTests {
    @Test(
        "a valid value is kept byte for byte",
        arguments: [
            "{}", "[]", "null", "true", "-0.0", "129.90", "1e-400", "123456789012345678901234567890",
            "\"\\u00e9\\ud83d\"",
            "{\"a\":1,\"a\":2}", "[1, [2, {\"b\": [ ]}]]", "\"blå 😀\"",
        ])
    func keepsText(_ text: String) throws {
        #expect(try JSONText(parsing: " \n\(text)\t").text == text)
    }

    @Test(
        "text that RFC 8259 forbids is rejected",
        arguments: [
            "", " ", "{", "[1,]", "{\"a\":1,}", "{a:1}", "01", "1.", ".5", "+1", "1e", "nul", "True", "\"\n\"",
            "\"\\x\"",
            "\"\\u12g4\"", "\"open", "[1 2]", "{\"a\" 1}", "1 2", "NaN", "'a'", "[}",
        ])
    func refuses(_ text: String) {
        #expect(throws: JSONError.self) { try JSONText(parsing: text) }
    }

    @Test(
        "a comma after the last member is named as such",
        arguments: [
            ("{\"a\":1, }", "a comma before }"), ("{\"a\":1,'b':2}", "expected \", found '"),
            ("{\"a\":1,", "the text ends too early"),
        ])
    func lastComma(_ text: String, _ problem: String) {
        let error = #expect(throws: JSONError.self) { try JSONText(parsing: text) }
        #expect(error?.problem == problem)
    }

    @Test(
        "invalid UTF-8 is rejected",
        arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82], [0xC3]])
    func refusesBrokenUTF8(_ inner: [UInt8]) {
        #expect(throws: JSONError.self) { try JSONText([0x22] + inner + [0x22]) }
    }

    @Test("an invalid byte in a string is found at any position", arguments: 0..<20)
    func everyPlace(_ place: Int) throws {
        let text = Array(repeating: UInt8(ascii: "x"), count: 20)
        func with(_ bytes: [UInt8]) -> [UInt8] { [0x22] + text[..<place] + bytes + text[place...] + [0x22] }
        for wrong: [UInt8] in [[0x00], [0x1F], [0x0A], [0x22], [0x5C], [0xFF], [0x80], [0xC3]] {
            #expect(throws: JSONError.self) { try JSONText(with(wrong)) }
        }
        for right: [UInt8] in [[0x20], [0x7F], [0x5C, 0x22], [0x5C, 0x5C], [0xC3, 0xA6], [0xF0, 0x9F, 0x98, 0x80]] {
            #expect(try Array(JSONText(with(right)).bytes) == with(right))
        }
    }

    @Test("nesting is allowed to 512 levels and rejected at 10,000")
    func depth() throws {
        _ = try JSONText(parsing: String(repeating: "[", count: 512) + String(repeating: "]", count: 512))
        #expect(throws: JSONError.self) {
            try JSONText(parsing: String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000))
        }
    }

    @Test("a path is followed through nested objects")
    func path() throws {
        let answer = try JSONText(parsing: #"{"data":[{"id":"a"}],"pagination":{"total":12}}"#)
        #expect(answer.at(path: "pagination.total")?.integer == 12)
        #expect(answer.at(path: "pagination.pages") == nil)
        #expect(answer.at(path: "data")?.elements.first?["id"]?.string == "a")
        #expect(answer.at(path: "") == answer)
    }

    @Test("escapes are decoded, a lone surrogate becomes the replacement character")
    func escapes() throws {
        #expect(try JSONText(parsing: #""a\n\"\u00e9\ud83d\ude00\/""#).string == "a\n\"é😀/")
        #expect(try JSONText(parsing: #""x\ud83dy""#).string == "x\u{FFFD}y")
        #expect(
            try JSONText(parsing: #""\ud83d\ud83d\ude00\ude00\u0041\\u0041é\b\f\r\t""#).string
                == "\u{FFFD}😀\u{FFFD}A\\u0041é\u{8}\u{C}\r\t")
        #expect(try JSONText(parsing: #""\ud83d\n\ude00\ud83d""#).string == "\u{FFFD}\n\u{FFFD}\u{FFFD}")
    }

    @Test("one escape in a long text does not make decoding it take much longer")
    func longText() {
        let text = String(repeating: "a", count: 1 << 20)
        #expect(Self.cost(of: .string("\n" + text)) < Self.cost(of: .string(text)) * 10)
    }

    /// The processor time that it takes to decode a string, the least of three.
    private static func cost(of value: JSONText) -> Duration {
        func time() -> Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
        return (0..<3).map { _ in
            let begun = time()
            #expect(value.string?.isEmpty == false)
            return time() - begun
        }.min() ?? .zero
    }

    @Test(
        "half of a surrogate pair is found in a string",
        arguments: [
            (#""\ud83d\ude00""#, false), (#""\ufffd\\ud800""#, false), (#""😀\n""#, false), ("1", false),
            (#""\ud83d""#, true), (#""\ude00""#, true), (#""\ud83d\n\ude00""#, true), (#""\ud83d\ud83d\ude00""#, true),
            (#""\ud83dx""#, true),
        ])
    func surrogates(_ text: String, _ isLone: Bool) throws {
        #expect(try JSONText(parsing: text).hasLoneSurrogate == isLone)
    }

    @Test("any string survives being written and read", arguments: ["", "a\"b\\c", "\u{0}\u{1F}\n", "é😀", "\\u0041"])
    func roundTrip(_ text: String) throws {
        #expect(try JSONText(parsing: JSONText.string(text).text).string == text)
    }

    @Test("setting a member leaves every other byte alone")
    func setting() throws {
        let record = try JSONText(parsing: #"{"total":129.90,"status":"ready","n":1e2}"#)
        #expect(record.setting("status", to: .null).text == #"{"total":129.90,"status":null,"n":1e2}"#)
        let changes = try JSONText(parsing: #"{"n":2,"new":[]}"#)
        #expect(record.setting(changes).text == #"{"total":129.90,"status":"ready","n":2,"new":[]}"#)
    }

    @Test("setting many members gives the text of setting them one after the other")
    func settingMany() throws {
        let texts = [#"{ "m1": 1.50, "x":[ ] ,"m1":2, "\u006d2" : 3, "é":4, "m3":{} }"#, "{}", "{ }", "null"]
        let names = ["m1", "e\u{301}", "m2", "m1"] + (3...200).map { "m\($0)" } + ["m200", "é"]
        let changes = JSONText.object(members: names.enumerated().map { (key: $1, value: JSONText.integer($0)) })
        for text in texts {
            let record = try JSONText(parsing: text)
            let expected = changes.members.reduce(record) { $0.setting($1.key, to: $1.value) }
            #expect(record.setting(changes) == expected)
        }
    }

    @Test(
        "setting a few members gives the text of setting them one after the other",
        arguments: [
            #"{ "m1": 1.50, "x":[ ] ,"m1":2, "\u006d2" : 3, "é":4, "m3":{} }"#, #"{"m2":"a","m1":null}"#, "{}", "{ }",
            "null",
        ])
    func settingFew(_ text: String) throws {
        let record = try JSONText(parsing: text)
        let edits = [
            "{}", "[1]", #"{"m1":5}"#, #"{"m3":1,"new":2,"m1":3}"#, #"{"m1":1,"m1":2}"#, #"{"a":1,"b":2,"a":3}"#,
            #"{ "m2" : "x" , "é" : 1e2 }"#, #"{"m\u0031":7,"m2":8}"#, #"{"a\"b":1,"m3":2}"#, #"{"M1":1,"m":2,"":3}"#,
        ]
        for edit in edits {
            let changes = try JSONText(parsing: edit)
            let expected = changes.members.reduce(record) { $0.setting($1.key, to: $1.value) }
            #expect(record.setting(changes) == expected)
        }
    }

    @Test(
        "a merge patch sets what is set one by one unless it merges, removes, or meets a member twice or with an escape",
        arguments: [
            (#"{"a":1,"b":[]}"#, true), (#"{"new":1}"#, true), (#"{"a":null}"#, false), (#"{"new":{}}"#, false),
            (#"{"twice":1}"#, false), (#"{"b":1,"\u0074wice":1}"#, false), ("{}", true), (#"{"c":1}"#, false),
            (#"{"c":1,"e\u0066":1}"#, false), (#"{"new\u0031":1}"#, false),
        ])
    func mergePatch(_ edit: String, _ isMergePatch: Bool) throws {
        let record = try JSONText(parsing: #"{"a":1,"twice":2,"b":3,"\u0074wice":4,"\u0063":5}"#)
        #expect(try record.laying(JSONText(parsing: edit)).isMergePatch == isMergePatch)
    }

    @Test("100,000 members are set in the time of one pass")
    func settingManyQuickly() {
        let changes = JSONText.object(members: (0..<100_000).map { (key: "m\($0)", value: JSONText.integer($0)) })
        #expect(JSONText.object([:]).setting(changes) == changes)
    }

    @Test("100,000 members are set beside as many others in the time of one pass", .timeLimit(.minutes(10)))
    func settingBesideManyQuickly() {
        func object(_ prefix: String) -> JSONText {
            .object(members: (0..<100_000).map { (key: "\(prefix)\($0)", value: JSONText.integer($0)) })
        }
        let laid = object("n").laying(object("m"))
        #expect(laid.isMergePatch)
        #expect(laid.result["m99999"] == 99_999 && laid.result["n99999"] == 99_999)
    }

    @Test(
        "many members are no merge patch if the object has one of them twice", arguments: [("m70", false), ("n", true)])
    func manyTwice(_ twice: String, _ isMergePatch: Bool) throws {
        let record = try JSONText(parsing: #"{"\#(twice)":1,"x":2,"\#(twice)":3}"#)
        let changes = JSONText.object(members: (0..<100).map { (key: "m\($0)", value: JSONText.integer($0)) })
        #expect(record.laying(changes).isMergePatch == isMergePatch)
    }

    @Test(
        "a decimal has exactly the given number of places",
        arguments: [
            (12990, 2, "129.90"), (5, 2, "0.05"), (0, 2, "0.00"), (-7, 1, "-0.7"), (42, 0, "42"), (-1200, 3, "-1.200"),
        ])
    func decimal(_ units: Int, _ places: Int, _ text: String) throws {
        #expect(JSONText.decimal(units, places: places).text == text)
        _ = try JSONText(parsing: text)
    }

    @Test("a member is found by its name's bytes, escaped or not, and the first of two counts")
    func member() throws {
        let object = try JSONText(parsing: #"{"a":1,"\u0062":2,"a":3,"e\u0301":4}"#)
        #expect(object["a"] == 1)
        #expect(object["b"] == 2)
        #expect(object["e\u{301}"] == 4)
        #expect(object["\u{E9}"] == nil)
        // An escape and the characters that it is written with are two names.
        let escaped = try JSONText(parsing: #"{"x\ny":1,"p\\q":2}"#)
        #expect(escaped["x\ny"] == 1)
        #expect(escaped[#"x\ny"#] == nil)
        #expect(escaped[#"p\q"#] == 2)
    }
}

@Suite("JSON equivalence")
struct EquivalenceTests {
    @Test(
        "different notations of one value are equivalent",
        arguments: [
            ("129.90", "129.9"), ("1e2", "100"), ("1.0E+1", "10"), ("-0", "0.00"), ("0.001", "1e-3"),
            (#""é""#, #""\u00e9""#), (#"{"a":1,"b":2}"#, #"{ "b": 2.0, "a": 1 }"#),
            ("[1, {\"x\":null}]", "[1.0,{\"x\":null}]"),
            ("123456789012345678901234567890", "123456789012345678901234567890.0"),
        ])
    func same(_ one: String, _ other: String) throws {
        let (one, other) = (try JSONText(parsing: one), try JSONText(parsing: other))
        #expect(one.isEquivalent(to: other))
        #expect(EquivalenceKey(one) == EquivalenceKey(other))
        #expect(EquivalenceKey.Digest(one) == EquivalenceKey.Digest(other))
    }

    @Test(
        "different values are not equivalent",
        arguments: [
            ("1", #""1""#), ("1", "10"), ("1", "-1"), ("null", "false"), ("true", "false"), ("[1,2]", "[2,1]"),
            (#"{"a":1}"#, #"{"a":1,"b":null}"#), ("123456789012345678901234567890", "123456789012345678901234567891"),
            ("1e9223372036854775807", "2e9223372036854775807"), ("10e9223372036854775807", "1e400"),
            ("1.5e-9223372036854775808", "0"), ("1e99999999999999999999", "1e99999999999999999998"),
        ])
    func different(_ one: String, _ other: String) throws {
        let (one, other) = (try JSONText(parsing: one), try JSONText(parsing: other))
        #expect(!one.isEquivalent(to: other))
        #expect(EquivalenceKey(one) != EquivalenceKey(other))
        #expect(EquivalenceKey.Digest(one) != EquivalenceKey.Digest(other))
    }

    /// `value` inside so many objects and lists.
    private func nested(_ levels: Int, _ value: String) throws -> JSONText {
        let (opening, closing) = (
            String(repeating: #"{"x":[1,"#, count: levels), String(repeating: "]}", count: levels)
        )
        return try JSONText(parsing: opening + value + closing)
    }

    @Test("values are compared at any depth", arguments: [1, 3, 4, 5, 100])
    func deep(_ levels: Int) throws {
        let value = try nested(levels, #"{"a":1,"b":"\u00e9"}"#)
        let same = try nested(levels, #"{ "b" : "é", "a" : 1.0 }"#)
        let other = try nested(levels, #"{"a":1,"b":"e"}"#)
        #expect(value.isEquivalent(to: same) && EquivalenceKey(value) == EquivalenceKey(same))
        #expect(!value.isEquivalent(to: other) && EquivalenceKey(value) != EquivalenceKey(other))
    }

    @Test("deep values are compared without going through them once for each level", .timeLimit(.minutes(10)))
    func deepQuickly() throws {
        let space = String(repeating: " ", count: 3_000_000)
        #expect(try !nested(250, space + "1").isEquivalent(to: nested(250, space + "2")))
    }

    @Test("a number beyond all amounts is none, and equal only to itself")
    func beyond() throws {
        for text in ["10e9223372036854775807", "1.5e-9223372036854775808", #""1e99999999999999999999""#] {
            let number = try JSONText(parsing: text)
            #expect(number.amount == nil)
            #expect(number.isEquivalent(to: number))
            #expect(EquivalenceKey(number) == EquivalenceKey(number))
        }
        #expect(try JSONText(parsing: "1e-400").amount?.places == 400)
    }
}

import Foundation
import RepairminderClient
import Testing

/// JSON that passes through the client unchanged.
@Suite("JSON of the client")
struct JSONValueTests {
    @Test(
        "what was read is written byte for byte",
        arguments: [
            #"{"b":1.50,"a":[1e400,-0,12345678901234567890123,0.1E-7],"":{}}"#, #"[true,false,null,[],[[]]]"#,
            #""a\"b\\c\n\u0001é😀""#, #"{"half":"\ud800","other":"x\udc00\n"}"#, #"{"a":1,"a":2}"#,
        ])
    func isExact(text: String) throws {
        #expect(try JSONValue(parsing: text).text == text)
    }

    @Test("spaces are left out, and escapes are read")
    func reads() throws {
        let value = try JSONValue(parsing: " { \"a\" : [ 1 , \"\\u0041\\/\\ud83d\\ude00\" ] }\n")
        #expect(value.text == #"{"a":[1,"A/😀"]}"#)
        #expect(value["a"]?.array?.last?.string == "A/😀")
    }

    @Test(
        "what is not JSON is refused",
        arguments: [
            "", "{", "[1,]", "01", "1.", ".5", "+1", "NaN", "'a'", #""\x""#, #""\u12g4""#,
            "\"\u{1}\"",
            "1 2", #"{"a" 1}"#, "tru", #"{1:2}"#,
        ])
    func refuses(text: String) {
        #expect(throws: JSONFailure.self) { _ = try JSONValue(parsing: text) }
    }

    @Test("deep nesting is refused, not a crash")
    func isBounded() {
        #expect(throws: JSONFailure.self) {
            _ = try JSONValue(parsing: String(repeating: "[", count: 100_000))
        }
        #expect(
            (try? JSONValue(parsing: String(repeating: "[", count: 500) + String(repeating: "]", count: 500))) != nil)
    }

    @Test("numbers keep their digits, and money is decimal")
    func numbers() throws {
        let total = try JSONValue(parsing: "81.30")
        #expect(total.number?.text == "81.30")
        #expect(total.decimal == Decimal(string: "81.3"))
        #expect(total.int == nil)
        #expect(JSONNumber(text: "1e3")?.decimal == 1000)
        #expect(JSONNumber(text: "1,5") == nil)
        #expect(JSONNumber(text: String(repeating: "7", count: 60))?.decimal == nil)
        #expect(JSONNumber(.infinity) == nil)
        #expect((0.1 as JSONValue).text == "0.1")
    }

    @Test("objects keep the order of their members, and are equal in any order")
    func objects() throws {
        var object: JSONObject = ["b": 1, "a": .null]
        #expect(object == ["a": .null, "b": 1])
        #expect(object != ["a": .null])
        #expect(object.hashValue == (["a": .null, "b": 1] as JSONObject).hashValue)
        object["b"] = 2
        object["c"] = "x"
        object["a"] = nil
        #expect(object.description == #"{"b":2,"c":"x"}"#)
        #expect(object.names == ["b", "c"])
    }

    @Test("times are read with and without fractions")
    func times() throws {
        #expect(("2026-11-21T10:42:00.250Z" as JSONValue).date == Date(timeIntervalSince1970: 1_795_257_720.25))
        #expect(("2026-11-21T10:42:00Z" as JSONValue).date == Date(timeIntervalSince1970: 1_795_257_720))
        #expect(("yesterday" as JSONValue).date == nil)
    }
}

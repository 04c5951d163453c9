import Testing

@testable import JSONText

@Suite("What JSON means")
struct EquivalenceTests {
    @Test(
        "ways of writing the same are the same",
        arguments: [
            ("129.90", "129.9"), ("1e2", "100"), ("1.0E+1", "10"), ("-0", "0.00"), ("0.001", "1e-3"),
            (#""é""#, #""\u00e9""#), (#"{"a":1,"b":2}"#, #"{ "b": 2.0, "a": 1 }"#),
            ("[1, {\"x\":null}]", "[1.0,{\"x\":null}]"),
            ("123456789012345678901234567890", "123456789012345678901234567890.0"),
        ])
    func same(_ one: String, _ other: String) throws {
        #expect(try JSONText(parsing: one).isEquivalent(to: JSONText(parsing: other)))
    }

    @Test(
        "what differs, differs",
        arguments: [
            ("1", #""1""#), ("1", "10"), ("1", "-1"), ("null", "false"), ("true", "false"), ("[1,2]", "[2,1]"),
            (#"{"a":1}"#, #"{"a":1,"b":null}"#), ("123456789012345678901234567890", "123456789012345678901234567891"),
        ])
    func different(_ one: String, _ other: String) throws {
        #expect(try !JSONText(parsing: one).isEquivalent(to: JSONText(parsing: other)))
    }
}

import JSONText
import SQLiteStore
import Testing

@testable import CacheStore

@Suite("Amounts")
struct AmountTests {
    @Test(
        "a number is parsed exactly, quoted or not",
        arguments: [
            ("129.90", "129.90"), ("\"150.00\"", "150.00"), ("0.1", "0.1"), ("-0.05", "-0.05"), ("0", "0"),
            ("1.5e2", "150"), ("1.25e1", "12.5"), ("12E-1", "1.2"),
            ("999999999999999.999999999", "999999999999999.999999999"),
            ("1.0000000000", "1.000000000"), ("0e99", "0"), ("007", "7"),
        ])
    func reading(_ text: String, _ written: String) {
        #expect(Amount(json: text)?.json.text == written)
    }

    @Test(
        "anything that is not an amount of money is rejected",
        arguments: [
            "", "null", "true", "\"\"", "\"abc\"", "\"£150\"", "\"1,250.00\"", "1.", ".5", "1e", "1e400", "1e-10",
            "1234567890123456", "0.0000000001", "--1", "\"", "+1", "1e99999999999999999999", "[1]", "١",
            "1e-9223372036854775808", "\"1e-9223372036854775808\"", "1e9223372036854775807",
        ])
    func refusing(_ text: String) {
        #expect(Amount(json: text) == nil)
    }

    @Test("sums are exact where binary fractions are not")
    func sums() throws {
        let tenth = try #require(Amount(json: "0.1"))
        let fifth = try #require(Amount(json: "0.2"))
        #expect((tenth + fifth).json.text == "0.3")
        let sum = (0..<10_000).reduce(Amount.zero) { sum, _ in sum + tenth }
        #expect(sum.json.text == "1000.0")
        #expect((tenth - fifth).written(with: 2).json.text == "-0.10")
    }

    @Test(
        "a share is a percentage with one decimal, halves rounded away from zero",
        arguments: [
            (3, 3, "100.0"), (1, 3, "33.3"), (2, 3, "66.7"), (-1, 3, "-33.3"), (1, 2000, "0.1"), (-1, 2000, "-0.1"),
            (1, 2001, "0.0"), (0, 5, "0.0"),
        ])
    func percent(_ part: Int, _ whole: Int, _ text: String) {
        #expect(Amount(part).percent(of: Amount(whole)).text == text)
    }

    @Test("a share of zero is zero")
    func percentOfNothing() {
        #expect(Amount(5).percent(of: .zero).text == "0.0")
        #expect(Amount.zero.percent(of: .zero).text == "0.0")
    }
}

import JSONText
import Testing

@testable import repairminder_sync

@Suite struct FeedTypeTests {
    private static func text(_ type: FeedType, _ json: String) throws -> String? {
        type.parameter(try JSONText(parsing: json)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("each type of the schema has a type of column")
    func types() {
        let words = [
            "string", "enum", "reference", "integer", "number", "money", "boolean", "time", "date", "object", "list",
        ]
        #expect(
            words.map { FeedType(field: $0) } == [
                .text, .text, .text, .bigint, .numeric, .numeric, .boolean, .timestamptz, .date, .jsonb, .jsonb,
            ])
        #expect(FeedType(field: "a type of later") == .text)
    }

    @Test("null and a missing value are null in every column")
    func nulls() {
        for type in FeedType.allCases {
            #expect(type.parameter(nil) == nil)
            #expect(type.parameter(JSONText.null) == nil)
        }
    }

    @Test("a number keeps its digits, and one in quotes counts")
    func numbers() throws {
        #expect(try Self.text(.numeric, "1.50") == "1.50")
        #expect(try Self.text(.numeric, #""12.50""#) == "12.50")
        #expect(try Self.text(.numeric, #""twelve""#) == nil)
        #expect(try Self.text(.numeric, "1e1001") == nil)
        #expect(try Self.text(.bigint, "-9223372036854775808") == "-9223372036854775808")
        #expect(try Self.text(.bigint, "9223372036854775808") == nil)
        #expect(try Self.text(.bigint, "5.00") == "5")
        #expect(try Self.text(.bigint, "5.01") == nil)
        #expect(try Self.text(.bigint, "[5]") == nil)
    }

    @Test("a boolean may be a number or in quotes")
    func booleans() throws {
        #expect(try Self.text(.boolean, "true") == "true")
        #expect(try Self.text(.boolean, #""false""#) == "false")
        #expect(try Self.text(.boolean, "1") == "true")
        #expect(try Self.text(.boolean, #""yes""#) == nil)
    }

    @Test("a time is given in UTC, and one that PostgreSQL writes otherwise is null")
    func times() throws {
        #expect(try Self.text(.timestamptz, #""2026-11-21T10:42:00+01:00""#) == "2026-11-21T09:42:00.000Z")
        #expect(try Self.text(.timestamptz, #""0001-01-01T00:00:00Z""#) == "0001-01-01T00:00:00.000Z")
        #expect(try Self.text(.timestamptz, #""0000-12-31T00:00:00Z""#) == nil)
        #expect(try Self.text(.timestamptz, #""yesterday""#) == nil)
        #expect(try Self.text(.timestamptz, "1764000000") == nil)
    }

    @Test("a day that does not exist is null")
    func days() throws {
        #expect(try Self.text(.date, #""2024-02-29""#) == "2024-02-29")
        #expect(try Self.text(.date, #""2023-02-29""#) == nil)
        #expect(try Self.text(.date, #""2024-02-29T10:00:00Z""#) == nil)
        #expect(try Self.text(.date, #""0000-01-01""#) == nil)
    }

    @Test("a text column has any value as text, without U+0000")
    func texts() throws {
        #expect(try Self.text(.text, #""it's""#) == "it's")
        #expect(try Self.text(.text, #""a\u0000b""#) == "a\u{FFFD}b")
        #expect(try Self.text(.text, "12.50") == "12.50")
        #expect(try Self.text(.jsonb, #"["a\u0000"]"#) == #"["a\ufffd"]"#)
    }
}

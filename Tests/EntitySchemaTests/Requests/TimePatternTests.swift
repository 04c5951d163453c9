import JSONText
import Testing

@testable import EntitySchema

@Suite("Times by their parts")
struct TimePatternTests {
    private static let time = Timestamp(milliseconds: 1_769_850_030_750)

    @Test(
        "each part is written with its digits",
        arguments: [
            ("yyyy-MM-ddTHH:mm:ssZ", "2026-01-31T09:00:30Z"), ("yyyy-MM-ddTHH:mm:ss", "2026-01-31T09:00:30"),
            ("yyyy-MM-dd HH:mm:ss", "2026-01-31 09:00:30"), ("yyyy/MM/dd HH:mm", "2026/01/31 09:00"),
            ("dd.MM.yyyy", "31.01.2026"), ("yyyyMMddHHmmss", "20260131090030"), ("yyyy-MM-dd HH", "2026-01-31 09"),
            ("yyyy-MM-ddTHH:mm:ss.SSSSSSZ", "2026-01-31T09:00:30.750000Z"),
            ("yyyy-MM-ddTHH:mm:ss.S+00:00", "2026-01-31T09:00:30.7+00:00"),
        ])
    func writing(_ pattern: String, _ expected: String) throws {
        #expect(try #require(TimePattern(pattern)).text(Self.time) == expected)
    }

    @Test("an offset at the end moves the time, in brackets without being written")
    func offsets() throws {
        let written = try #require(TimePattern("yyyy-MM-ddTHH:mm:ss-0530"))
        #expect(written.text(Self.time) == "2026-01-31T03:30:30-0530")
        let silent = try #require(TimePattern("yyyy-MM-dd HH:mm[+14:00]"))
        #expect(silent.text(Self.time) == "2026-01-31 23:00")
        for pattern in [written, silent] {
            let read = try #require(pattern.time(pattern.text(Self.time)))
            #expect(read <= Self.time && Self.time.since(read) < .seconds(60))
        }
    }

    @Test("a time is cut, never rounded up, also before 1970")
    func cutting() throws {
        let pattern = try #require(TimePattern("yyyy-MM-dd HH:mm"))
        #expect(pattern.text(Timestamp(milliseconds: -1)) == "1969-12-31 23:59")
        #expect(pattern.precision == .seconds(60))
    }

    @Test(
        "what is no pattern is none",
        arguments: [
            "", "yyyy", "yyyy-MM", "HH:mm", "yyyy-MM-dd mm", "yyyy-MM-dd HH:ss", "yyyy-MM-dd-dd", "yy-MM-dd",
            "yyyy-MM-dd hh:mm", "yyyy-MM-dd at HH", "yyyy-MM-dd HH:mm+2:00", "yyyy-MM-dd HH:mm[+02:00",
            "yyyy-MM-dd HH:mm+99:00", "yyyy-MM-dd{HH}", "yyyy-MM-dd 00:00", "iso",
        ])
    func refusals(_ text: String) {
        #expect(TimePattern(text) == nil)
    }

    @Test("only a form of ISO 8601 is read without its pattern")
    func iso() {
        for pattern in ["yyyy-MM-dd HH:mm", "yyyy-MM-ddTHH:mm:ss.SSS+0200", "yyyy-MM-ddTHH:mm:ssZ"] {
            #expect(TimePattern(pattern)?.isISO == true)
        }
        for pattern in ["dd/MM/yyyy HH:mm", "yyyy-dd-MM HH:mm", "yyyyMMddHHmmss", "yyyy-MM-dd HH:mm[+02:00]"] {
            #expect(TimePattern(pattern)?.isISO == false)
        }
    }

    // MARK: Fields

    private static func field(_ wire: String, type: String = "time") throws -> Field {
        let yaml = """
            schema: small
            upstream: { base_url: http://localhost }
            entities:
              notes:
                fields: { id: { type: string }, at: { type: \(type), wire: \(wire) } }
                pull: { path: /notes }
            """
        return try #require(try EntitySchema(yaml: yaml, file: "small.yaml")["notes"]?[field: "at"])
    }

    @Test("a time is sent as the upstream takes it, and what that cuts off is no difference")
    func wire() throws {
        let field = try Self.field("yyyy-MM-dd HH:mm:ss")
        #expect(field.onWire("2026-01-31T10:00:30.750+01:00") == "2026-01-31 09:00:30")
        #expect(field.onWire("soon") == "soon")
        #expect(field.onWire(.null) == .null)
        #expect(field.isSame("2026-01-31T09:00:30.750Z", "2026-01-31 09:00:30"))
        #expect(!field.isSame("2026-01-31T09:00:31Z", "2026-01-31 09:00:30"))
    }

    @Test("a time is not sent in a form that could not be read back", arguments: ["epoch", "dd/MM/yyyy HH:mm", "date"])
    func unread(_ wire: String) {
        expectRefusal("use type integer") { try Self.field(wire) }
    }

    @Test("a misspelt form is refused with the right one")
    func hints() {
        expectRefusal("did you mean yyyy-MM-dd HH:mm?") { try Self.field("YYYY-MM-DD hh:mm") }
        expectRefusal("wire is for a field of type") { try Self.field("string", type: "list") }
    }
}

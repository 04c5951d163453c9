import JSONText
import Testing

@testable import repairminder_sync

@Suite("What an empty list says of its filters")
struct EmptyListHintTests {
    private func lines(_ filter: String) throws -> [String] {
        let schema = try JSONText(
            parsing: #"{"key":"id","fields":[{"name":"at","type":"time"},{"name":"notes","type":"string"}]}"#)
        return EmptyListHint.lines(try FieldArgument.query([filter]), EntityShape(schema))
    }

    @Test("a day compared with a time is its first moment", arguments: ["at", "at.eq"])
    func day(_ name: String) throws {
        let line = "\(name)=2026-12-31 is the first moment of that day; for the whole day write "
        #expect(try lines("\(name)=2026-12-31") == [line + "at.gte=2026-12-31 at.lt=2027-01-01"])
    }

    @Test("signs for any text are none", arguments: ["*called*", "%called%", "called*"])
    func wildcard(_ value: String) throws {
        let line = "notes=\(value) is compared as it is written; for a part of the text write notes.contains=called"
        #expect(try lines("notes=\(value)") == [line])
    }

    @Test(
        "other filters are taken as they are meant",
        arguments: ["at.gte=2026-12-31", "at=2026-12-31T09:00:00Z", "at=2026-13-01", "notes=called", "notes=*", "x=*a"])
    func meant(_ filter: String) throws {
        #expect(try lines(filter).isEmpty)
    }
}

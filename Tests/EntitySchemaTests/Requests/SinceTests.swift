import Foundation
import JSONText
import Testing

@testable import EntitySchema

@Suite("Since when changes are asked for")
struct SinceTests {
    private static func parameter(_ since: String) throws -> PullPlan.SinceParameter {
        let yaml = """
            schema: small
            upstream: { base_url: http://localhost }
            entities:
              notes:
                fields: { id: { type: string }, changed: { type: time }, number: { type: integer } }
                pull: { path: /notes, since: \(since), query: { expand: [client, lines] } }
            """
        let plan = try EntitySchema(yaml: yaml, file: "small.yaml")["notes"]?.pull
        guard case .since(let parameter, _) = plan?.mode else { throw SchemaError.noSince }
        return parameter
    }

    @Test(
        "each format writes the time, never later than it is, and reads it back",
        arguments: [
            ("iso", "2026-01-31T09:00:00.750Z"), ("iso_space", "2026-01-31 09:00:00.750Z"), ("date", "2026-01-30"),
            ("epoch", "1769850000"), ("epoch_ms", "1769850000750"), ("yyyy-MM-ddTHH:mm:ssZ", "2026-01-31T09:00:00Z"),
            ("'yyyy-MM-dd HH:mm'", "2026-01-31 09:00"), ("dd/MM/yyyy", "30/01/2026"),
            ("yyyyMMddTHHmmss.SSSSSS+0200", "20260131T110000.750000+0200"),
            ("'yyyy-MM-dd HH:mm[-08:00]'", "2026-01-31 01:00"), ("'yyyy-MM-dd[-08:00]'", "2026-01-31"),
        ])
    func formats(_ format: String, _ expected: String) throws {
        let parameter = try Self.parameter("{ param: after, field: changed, format: \(format) }")
        let item = parameter.item("2026-01-31T09:00:00.750Z")
        #expect(item == QueryItem(name: "after", value: expected))
        let read = try #require(parameter.time(in: item.value))
        let asked = try #require(Timestamp(iso8601: "2026-01-31T09:00:00.750Z"))
        #expect(read <= asked && asked.since(read) <= .seconds(36 * 3600))
    }

    @Test("a list that is not served without a time is asked since `from` for everything")
    func from() throws {
        let yaml = """
            schema: small
            upstream: { base_url: http://localhost }
            entities:
              notes:
                fields: { id: { type: string }, changed: { type: time } }
                pull:
                  path: /query
                  query: { q: "SELECT * FROM notes WHERE changed >= {$since}" }
                  since: { field: changed, from: 1970-01-01T00:00:00Z }
            """
        let plan = try #require(try EntitySchema(yaml: yaml, file: "small.yaml")["notes"]?.pull)
        func sent(_ since: String?) -> String? {
            plan.request(of: "notes", since: since).request.path.removingPercentEncoding
        }
        #expect(sent(nil)?.contains("WHERE changed >= 1970-01-01T00:00:00.000Z") == true)
        #expect(sent("2026-01-31T09:00:00.000Z")?.contains("WHERE changed >= 2026-01-31T09:00:00.000Z") == true)
        expectRefusal("always is not a time") { try Self.parameter("{ param: after, field: changed, from: always }") }
    }

    @Test("a field of numbers is a change time only where the format says so")
    func numbers() throws {
        for format in ["epoch", "epoch_ms"] {
            _ = try Self.parameter("{ param: after, field: number, format: \(format) }")
        }
        for format in ["iso", "date"] {
            expectRefusal("epoch_ms") { try Self.parameter("{ param: after, field: number, format: \(format) }") }
        }
    }

    @Test("seconds before 1970 are cut to earlier ones")
    func early() {
        #expect(TimeFormat.epoch.text(Timestamp(milliseconds: -1)) == "-1")
        #expect(TimeFormat.epoch.text(Timestamp(milliseconds: -1000)) == "-1")
    }

    @Test("the time may stand inside an expression")
    func expression() throws {
        let since = #"{ param: filter, value: "(updated>='{$since}')", format: iso_space, field: changed }"#
        let parameter = try Self.parameter(since)
        let item = parameter.item("2026-01-31T09:00:00Z")
        #expect(item.value == "(updated>='2026-01-31 09:00:00.000Z')")
        #expect(parameter.time(in: item.value) == Timestamp(iso8601: "2026-01-31T09:00:00Z"))
        #expect(parameter.time(in: "2026-01-31 09:00:00.000Z") == nil)
    }

    @Test(
        "what cannot be is refused with what to write",
        arguments: [
            ("{ param: a, field: changed, format: epoc }", "did you mean epoch?"),
            ("{ param: a, field: changed, format: YYYY-MM-DD }", "did you mean yyyy-MM-dd?"),
            (#"{ param: a, field: changed, format: "%Y-%m-%d %H:%M" }"#, "did you mean yyyy-MM-dd HH:mm?"),
            (#"{ param: a, field: changed, format: "yyyy-MM-dd'T'HH:mm:ssXXX" }"#, "yyyy-MM-ddTHH:mm:ss+00:00?"),
            (#"{ param: a, field: changed, format: "HH:mm" }"#, "or the parts of a time such as yyyy-MM-dd HH:mm:ss"),
            ("{ param: a, field: changed, value: now }", "{$since} once"),
            (#"{ param: a, field: changed, value: "{$since} {$since}" }"#, "{$since} once"),
            (
                #"{ param: a, field: changed, value: "at > {$since:yyyy-MM-dd HH:mm}" }"#,
                #"write {$since} here, and beside value: format: "yyyy-MM-dd HH:mm""#
            ),
            (
                #"{ param: a, field: changed, value: "at > {$since:epoch}", format: epoch }"#,
                "write {$since} here, and keep format"
            ),
            (
                #"{ param: a, field: changed, value: "at > {$since:yyyy-MM-dd}", format: epoch }"#,
                "remove param and value here, and write in the list's query: { a: 'at > {$since:yyyy-MM-dd}' }"
            ),
        ])
    func refusals(_ since: String, _ words: String) {
        expectRefusal(words) { try Self.parameter(since) }
    }

    @Test("a list in query repeats the parameter")
    func repeated() throws {
        let yaml = """
            schema: small
            upstream: { base_url: http://localhost }
            entities:
              notes: { fields: { id: { type: string } }, pull: { path: /notes, query: { expand: [client, lines], all: 1 } } }
            """
        let pull = try #require(EntitySchema(yaml: yaml, file: "small.yaml")["notes"]?.pull)
        let request = PageRequest(path: pull.path, query: pull.query, list: pull.list)
        #expect(request.request.path == "/notes?expand=client&expand=lines&all=1")
    }

    @Test(
        "a change time is a text, also of HTTP or .NET, or a number of seconds or milliseconds",
        arguments: [
            (#""2026-01-31T09:00:00Z""#, 1_769_850_000_000), (#""2026-01-31 09:00:00.5Z""#, 1_769_850_000_500),
            (#""Sat, 31 Jan 2026 09:00:00 GMT""#, 1_769_850_000_000),
            ("1769850000", 1_769_850_000_000), ("1769850000.25", 1_769_850_000_250),
            (#""/Date(1769850000123+0100)/""#, 1_769_850_000_123), (#""\/Date(-1)\/""#, -1),
            ("1769850000123", 1_769_850_000_123), ("1.769850000e9", 1_769_850_000_000),
            (#""1769850000""#, 1_769_850_000_000), (#""1769850000123""#, 1_769_850_000_123),
        ])
    func changeTimes(_ text: String, _ milliseconds: Int64) throws {
        #expect(try JSONText(parsing: text).changeTime == Timestamp(milliseconds: milliseconds))
    }

    @Test(
        "anything else is no change time",
        arguments: [
            "null", "true", #""soon""#, #""/Date(x)/""#, "0", "-5", "1e300", "[1]", #""202601310900""#,
            #""17.6985000""#, #""Sat, 31 Jan 2026 09:00:00 +0100""#, #""Sat, 31 Jan 2026 09:00:00 CET""#,
        ])
    func others(_ text: String) throws {
        #expect(try JSONText(parsing: text).changeTime == nil)
    }
}

extension SchemaError {
    fileprivate static let noSince = SchemaError(file: "", line: 0, key: "", problem: "no since")
}

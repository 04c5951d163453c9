import EntitySchema
import JSONText
import Testing

@testable import CacheStore

@Suite("The latest change time of a page, and that of its last record")
struct ChangeTimesTests {
    @Test("times of other zones are compared as times, not as text")
    func zones() throws {
        var times = ChangeTimes(upTo: try #require(Timestamp(iso8601: "2026-11-22T00:00:00Z")))
        for text in ["2026-11-21T12:00:00+05:00", "2026-11-21T11:00:00+01:00", "2026-11-21T10:00:00+09:00"] {
            times.insert(.string(text))
        }
        times.finish()
        #expect(times.ending == "2026-11-21T01:00:00.000Z" && times.latest == "2026-11-21T10:00:00.000Z")
    }

    @Test("times without zone are those of the upstream's clock")
    func ownClock() throws {
        let now = try #require(Timestamp(iso8601: "2026-11-21T10:00:00Z"))
        for (clock, latest) in [(5.5, "2026-11-21T09:30:00.000Z"), (-8, "2026-11-21T09:45:00.000Z")] {
            var times = ChangeTimes(upTo: now, clock: .seconds(clock * 3600))
            for text in ["2026-11-21 15:00:00", "2026-11-21T01:45:00", "2026-11-21T08:00:00Z", "2026-11-21 15:31:00.5"]
            {
                times.insert(.string(text))
            }
            times.finish()
            #expect(times.latest == latest)
        }
    }

    @Test("the time of creation can stand for the missing one of the last change, as a derived text")
    func derived() throws {
        let yaml = """
            schema: s
            upstream: { base_url: http://localhost }
            entities:
              notes:
                fields:
                  id: { type: string }
                  made: { type: time }
                  edited: { type: time }
                  changed: { type: string, derive: { text: ["{edited}", "{made}"] } }
                pull: { path: /notes, mode: newest_first, changed_at: changed }
            """
        let entity = try #require(EntitySchema(yaml: yaml, file: "s.yaml")["notes"])
        let page = try JSONText(
            parsing:
                #"[{"id":"a","made":"2026-01-01","edited":null},{"id":"b","made":"2026-01-01","edited":"2026-02-01"}]"#)
        #expect(IncomingPage(page, of: entity).records.map(\.changed) == ["2026-01-01", "2026-02-01"])
    }

    @Test("a time after the server's own moves nothing")
    func future() throws {
        var times = ChangeTimes(upTo: try #require(Timestamp(iso8601: "2026-11-21T10:00:00Z")))
        for text in ["2026-11-21T09:00:00.000Z", "2026-11-21T10:00:01.000Z"] { times.insert(.string(text)) }
        times.finish()
        #expect(times.latest == "2026-11-21T09:00:00.000Z")
    }

    @Test("a page rises if a record is more than a minute later than one before it, in any notation")
    func rises() throws {
        func rises(_ texts: String...) throws -> Bool {
            var times = ChangeTimes(upTo: try #require(Timestamp(iso8601: "2026-11-22T00:00:00Z")))
            for text in texts { times.insert(.string(text)) }
            return times.rises
        }
        #expect(try rises("2026-11-21T10:00:00Z", "2026-11-21T09:00:00Z", "2026-11-21T09:01:01Z"))
        #expect(try rises("2026-11-21T09:00:00Z", "2026-11-21T09:00:40Z", "2026-11-21T09:01:20Z"), "step by step")
        #expect(try rises("2026-11-21T10:00:00+05:00", "2026-11-21T06:00:00Z"))
        #expect(
            try !rises("2026-11-21T09:00:00.700Z", "2026-11-21T09:00:00.900Z", "2026-11-21T09:00:00.300Z"),
            "the upstream sorts by another time, such as the one that it stored")
        #expect(try !rises("2026-11-21T10:00:00Z", "2026-11-21T10:00:00Z", "2026-11-21T09:59:59Z"))
        #expect(try !rises("2026-11-21T10:00:00Z", "2026-11-21T10:00:00.5Z"))
        #expect(try !rises("2026-11-21T12:00:00+05:00", "2026-11-21T13:00:00+09:00", "no time"))
    }
}

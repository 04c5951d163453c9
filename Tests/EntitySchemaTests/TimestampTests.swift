import EntitySchema
import Testing

@Suite("Timestamps")
struct TimestampTests {
    @Test(
        "ISO 8601 as APIs write it is read",
        arguments: [
            ("1970-01-01", 0), ("1970-01-01T00:00:01Z", 1000), ("1970-01-01T00:00:00.5Z", 500),
            ("1970-01-01T01:00:00+01:00", 0), ("1969-12-31T23:59:59.999Z", -1),
            ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("2026-11-21 10:42:00.123456Z", 1_795_257_720_123), ("2026-11-21T10:42Z", 1_795_257_720_000),
            ("2026-11-21T10:42:00", 1_795_257_720_000), ("2026-11-21 10:42:00.5", 1_795_257_720_500),
            ("2026-11-21 10:42:00.5+00", 1_795_257_720_500), ("2026-11-21T08:42:00-02", 1_795_257_720_000),
            ("2026-11-21T12:42:00.000+0200", 1_795_257_720_000),
        ])
    func reads(_ text: String, _ milliseconds: Int64) {
        #expect(Timestamp(iso8601: text)?.milliseconds == milliseconds)
    }

    @Test(
        "anything else is rejected",
        arguments: [
            "", "now", "2026", "2026-13-01", "2026-01-01T25:00:00Z", "2026-01-01T00:00:00.Z", "2026-01-01x",
            "2026-01-01T00:00:00+", "2026-01-01T00:00:00+1", "2026-01-01T00:00:00+01:", "2026-01-01T00:00:00+24",
        ])
    func refuses(_ text: String) {
        #expect(Timestamp(iso8601: text) == nil)
    }

    @Test(
        "a time that a caller writes is on a day that there is; an upstream's may go on into the next month",
        arguments: ["2026-02-30", "2026-02-29T10:00:00Z", "2026-04-31 10:00"])
    func days(_ text: String) {
        #expect(Timestamp(written: text) == nil && Timestamp(iso8601: text) != nil)
        #expect(Timestamp(written: "2024-02-29T10:42Z") == Timestamp(iso8601: "2024-02-29T10:42:00Z"))
        #expect(Timestamp(written: "now") == nil && Timestamp(written: "2026-01-01x") == nil)
    }

    @Test("random times of ten thousand years are read back as written")
    func roundTrip() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<1000 {
            let time = Timestamp(
                milliseconds: Int64.random(in: -62_135_596_800_000...253_402_300_799_999, using: &random))
            #expect(Timestamp(iso8601: time.description) == time, "\(time.milliseconds)")
        }
    }

    @Test(
        "a time before the year 0 or after 9999, which an offset can make, is shown as the nearest that can be written")
    func beyondYears() throws {
        let first = try #require(Timestamp(iso8601: "0000-01-01T00:00:00Z"))
        let last = try #require(Timestamp(iso8601: "9999-12-31T23:59:59.999Z"))
        #expect((first - .seconds(8 * 3600)).description == first.description)
        #expect((last + .seconds(8 * 3600)).description == last.description)
        let pattern = try #require(TimePattern("yyyy-MM-dd HH:mm[-08:00]"))
        #expect(pattern.text(first) == "0000-01-01 00:00")
    }

    @Test("a sum or a difference beyond what 64 bits hold is the nearest that they do")
    func clamped() {
        let (first, last) = (Timestamp(milliseconds: .min), Timestamp(milliseconds: .max))
        #expect(last + .seconds(1) == last)
        #expect(last - .seconds(-1) == last)
        #expect(first - .seconds(1) == first)
        #expect(first + .seconds(-1) == first)
        #expect(last.since(first) == .milliseconds(Int64.max))
        #expect(first.since(last) == .milliseconds(Int64.min))
        #expect(Duration.seconds(Int64.max).milliseconds == .max)
        #expect(Duration.seconds(Int64.min).milliseconds == .min)
        #expect(TimeFormat.epoch.text(first) == "-9223372036854776")
    }
}

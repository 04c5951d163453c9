import Testing
import Upstream

@testable import repairminder_sync

@Suite("What the probe says of change times")
struct ChangeTimeProbeTests {
    private static let pull = "{ path: /notes, since: { param: after, field: updated_at } }"

    private static func findings(_ time: String, answer: HTTPResponse? = nil) async throws -> [Finding] {
        let note = UpstreamProbeTests.note.replacing("2026-01-01T00:00:00Z", with: time)
        var site = ["/notes": UpstreamProbeTests.json("[\(note)]")]
        site["/notes?after=2026-03-01T00%3A00%3A00.000Z"] = answer
        return try await UpstreamProbeTests.findings(pull, site)
    }

    @Test("those in the form of HTTP are read, and their form is offered where the filter by time fails")
    func http() async throws {
        let refusal = HTTPResponse(status: 400, body: Array("no date".utf8))
        let found = try await Self.findings("Thu, 01 Jan 2026 00:00:00 GMT", answer: refusal)
        let form = "pull.since.format: http"
        #expect(
            UpstreamProbeTests.says(.error, "is not accepted", advising: form, in: found), "\(found.map(\.text))")
        #expect(!found.contains { $0.message.contains("its change time") || $0.message.contains("not read as a time") })
    }

    @Test("those in another form are said to be so, and no advice names the field that has them")
    func other() async throws {
        let found = try await Self.findings("01/01/2026 00:00")
        let said = "updated_at, the change time, has texts in a form that is not read as a time"
        #expect(
            UpstreamProbeTests.says(.error, said, advising: "mode: full", in: found), "\(found.map(\.text))")
        #expect(!found.contains { $0.advice?.contains("set it to") == true })
    }
}

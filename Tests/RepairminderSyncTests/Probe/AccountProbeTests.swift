import Testing
import Upstream

@testable import repairminder_sync

@Suite("What the probe says of the account")
struct AccountProbeTests {
    @Test(
        "an account that cannot be read is the token's fault only if the upstream says so",
        arguments: [
            (401, "correct the token"), (429, "try again later"), (503, "try again later; if it keeps failing"),
        ])
    func unreadable(status: Int, advice: String) async throws {
        var site = UpstreamProbeTests.site("[NOTE]")
        site["/me"] = HTTPResponse(status: status, body: Array(#"{"error":"no"}"#.utf8))
        let found = try await UpstreamProbeTests.findings(
            "{ path: /notes }", upstream: "account: { path: /me, id: id }", site)
        let account = try #require(found.first { $0.check == "account" })
        #expect(account.level == .error && account.advice?.hasPrefix(advice) == true, "\(account.text)")
    }

    @Test("an account that the upstream refuses by its code is one finding, and no list is to be corrected")
    func refused() async throws {
        var site = UpstreamProbeTests.site("[NOTE]")
        site["/me"] = UpstreamProbeTests.json(#"{"id":"a"}"#)
        site["/notes"] = HTTPResponse(status: 403, body: Array(#"{"error":"accept the terms","code":"CONSENT"}"#.utf8))
        let found = try await UpstreamProbeTests.findings(
            "{ path: /notes }", upstream: "account: { path: /me, id: id }, account_errors: [CONSENT]",
            more: "pull: { path: /notes }", site)
        #expect(found.map(\.level) == [.ok, .error] && found.map(\.check) == ["account", "account"])
        #expect(found.last?.message.contains("accept the terms") == true)
        #expect(found.last?.advice == AccountAdvice.refused)
    }
}

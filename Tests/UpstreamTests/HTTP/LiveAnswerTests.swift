import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

/// Whom a refusal of Repair Minder concerns, by the shipped schema.
@Suite("Refusals of the live Repair Minder")
struct LiveAnswerTests {
    private let words = "PATCH /api/orders/1 answered"

    /// The error of a change that was answered so.
    private func error(_ status: Int, _ body: String) async throws -> UpstreamError? {
        let schema = try ProjectFiles.schema("repairminder-live")
        let response = HTTPResponse.json(status, body)
        let upstream = HTTPUpstream(plan: schema.upstream, transport: ScriptedTransport { _ in response })
        let request = PushRequest(
            method: "PATCH", path: "/api/orders/1", body: "{}", record: Place(paths: ["data"]))
        do throws(UpstreamError) {
            _ = try await upstream.push(request, idempotencyKey: "k")
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "403 with a code of the account holds all changes",
        arguments: ["ACCOUNT_PENDING_APPROVAL", "CONSENT_REQUIRED"])
    func account(code: String) async throws {
        let body = #"{"success":false,"error":"Not yet","code":"\#(code)"}"#
        #expect(try await error(403, body) == .barred(status: 403, "\(words) 403: Not yet"))
    }

    @Test("a code of the account is named where secrets keep an error from being quoted")
    func unquoted() async throws {
        let schema = try ProjectFiles.schema("repairminder-live")
        let devices = try #require(schema["devices"])
        let response = HTTPResponse.json(403, #"{"success":false,"error":"Not yet","code":"CONSENT_REQUIRED"}"#)
        let upstream = HTTPUpstream(plan: schema.upstream, transport: ScriptedTransport { _ in response })
        let error = await #expect(throws: UpstreamError.self) {
            try await upstream.record(of: devices, known: .object(["id": "2", "order_id": "1"]))
        }
        #expect(error?.message == "GET /api/orders/1/devices/2 answered 403: CONSENT_REQUIRED")
    }

    @Test("403 without such a code refuses this change, in the service's words")
    func role() async throws {
        let closed = #"{"success":false,"error":"Cannot add notes to a closed ticket"}"#
        #expect(
            try await error(403, closed) == .refused(status: 403, "\(words) 403: Cannot add notes to a closed ticket"))
        let role = #"{"success":false,"error":"Not allowed","code":"ROLE"}"#
        #expect(try await error(403, role) == .refused(status: 403, "\(words) 403: Not allowed"))
    }

    @Test("403 that is not in the service's own form may come from a gateway, and holds all changes")
    func gateway() async throws {
        let found = try await error(403, #"{"message":"Forbidden"}"#)
        guard case .barred(403, _, _) = found else {
            Issue.record("\(String(describing: found))")
            return
        }
    }

    @Test("200 that denies success refuses the change in the service's words")
    func denied() async throws {
        let found = try await error(200, #"{"success":false,"error":"The order is locked"}"#)
        #expect(found?.wordless == .refused(status: 200, ""))
        #expect(found?.message.contains("The order is locked") == true)
    }
}

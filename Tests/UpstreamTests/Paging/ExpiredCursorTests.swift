import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

/// A list whose cursors expire while it is read, as those of Kubernetes do.
@Suite("A cursor that has expired")
struct ExpiredCursorTests {
    private func page(
        _ status: Int, _ body: String, at position: String?,
        paging: String = "cursor, cursor: continue, next: meta.next",
        rules: String = "[]"
    ) async throws -> Page {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "https://shop.example", records: items, error_message: message, answers: \(rules) }
                entities:
                  orders:
                    fields: { id: { type: string } }
                    pull: { path: /orders, pagination: { style: \(paging) } }
                """, file: "s.yaml")
        let upstream = HTTPUpstream(
            plan: schema.upstream, transport: ScriptedTransport { _ in .json(status, body) }, token: nil)
        let list = try #require(schema["orders"]?.pull).list
        return try await upstream.page(PageRequest(path: "/orders", list: list, position: position))
    }

    private static let expired = #"{"message":"too old","meta":{"next":"rest"}}"#

    @Test("is replaced by the one that comes with the error, for the rest of the list")
    func replaced() async throws {
        let page = try await page(410, Self.expired, at: "old")
        #expect(page.isRenewed && page.next == "rest" && page.count == 0)
    }

    @Test(
        "ends the pull if the error has no other one",
        arguments: [#"{"message":"too old"}"#, #"{"meta":{"next":"old"}}"#])
    func none(_ body: String) async throws {
        await #expect { try await page(410, body, at: "old") } throws: { error in
            if case UpstreamError.gone(status: 410, _) = error { true } else { false }
        }
    }

    @Test("is one only with 410, and where the page of a list with cursors was asked for")
    func others() async throws {
        let gone = UpstreamError.gone(status: 410, "GET /orders answered 410: too old")
        await #expect(throws: UpstreamError.refused(status: 400, "GET /orders answered 400: too old")) {
            try await page(400, Self.expired, at: "old")
        }
        await #expect(throws: gone) { try await page(410, Self.expired, at: nil) }
        await #expect(throws: gone) { try await page(410, Self.expired, at: "2", paging: "page") }
        await #expect(throws: UpstreamError.refused(status: 410, "GET /orders answered 410: too old")) {
            try await page(410, Self.expired, at: "old", rules: "[{ status: 410, means: refused }]")
        }
    }
}

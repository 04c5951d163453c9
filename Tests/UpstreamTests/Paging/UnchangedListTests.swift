import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

/// A list that is asked in a header for what changed since a time, as those of Xero and Zoho are.
@Suite("A list that says that nothing has changed")
struct UnchangedListTests {
    private func page(since: String?, headers: String, parameter: String = "") async throws -> Page {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "https://books.example", records: items }
                entities:
                  invoices:
                    fields: { id: { type: string }, changed: { type: time } }
                    pull: { path: /invoices, headers: \(headers), since: { field: changed, format: http\(parameter) } }
                """, file: "s.yaml")
        let upstream = HTTPUpstream(
            plan: schema.upstream, transport: ScriptedTransport { _ in .json(304, "") }, token: nil)
        let pull = try #require(schema["invoices"]?.pull)
        return try await upstream.page(pull.request(of: "invoices", since: since))
    }

    private static let conditional = #"{ If-Modified-Since: "{$since}" }"#

    @Test("is one without records")
    func unchanged() async throws {
        let page = try await page(since: "2026-01-31T09:00:00Z", headers: Self.conditional)
        #expect(page.count == 0 && page.next == nil)
    }

    @Test("is not believed by a pull of everything, nor where the time is in no header")
    func unasked() async throws {
        await #expect(throws: UpstreamError.self) { try await page(since: nil, headers: Self.conditional) }
        await #expect(throws: UpstreamError.self) {
            try await page(
                since: "2026-01-31T09:00:00Z", headers: "{ Prefer: count=exact }", parameter: ", param: after")
        }
    }
}

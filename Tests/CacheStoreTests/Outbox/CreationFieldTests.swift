import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("An edit of a field that only a creation can send")
struct CreationFieldTests {
    private static let yaml = """
        schema: shop
        upstream: { base_url: http://localhost }
        entities:
          orders:
            fields: { id: { type: string }, email: { type: string }, notes: { type: string } }
            pull: { path: /orders }
            push:
              create: { call: POST /orders, fields: [email, notes] }
              update: { call: "PATCH /orders/{id}", fields: [notes] }
        """

    private let cache: TestCache

    init() throws {
        cache = try TestCache(schema: Self.yaml)
    }

    /// Why an edit of the order is refused.
    private func refusal(of key: String, _ edit: JSONText) async throws -> FieldProblem? {
        let error = await #expect(throws: CacheError.self) {
            try await cache.store.update("orders", key: key, body: edit, at: TestCache.now)
        }
        return error?.problems?.first
    }

    @Test("is refused with the creation that can be corrected while it waits")
    func waiting() async throws {
        let key = try await cache.store.create("orders", body: .object(["email": "wrong"]), at: TestCache.now)
        let problem = try #require(try await refusal(of: key, .object(["email": "right"])))
        #expect(problem.field == "email" && problem.code == .unsendableField)
        #expect(problem.message.hasSuffix("which waits as change 1, with queue edit 1 or PATCH /v1/pending/1"))
    }

    @Test("is refused with the fields that can be sent once the record is upstream")
    func known() async throws {
        _ = try await cache.pull("orders", #"[{"id":"a","email":"wrong"}]"#)
        let problem = try #require(try await refusal(of: "a", .object(["email": "right"])))
        #expect(problem.message.hasSuffix("it accepts notes"))
    }
}

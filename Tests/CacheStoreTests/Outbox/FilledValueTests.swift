import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore

@Suite("Objects and lists of a new record in which the server fills in members")
struct FilledValueTests {
    private static let schema = """
        schema: shop
        upstream: { base_url: http://localhost }
        entities:
          orders:
            fields:
              id: { type: string }
              billing: { type: object }
              lines: { type: list }
            pull: { path: /orders }
            push:
              create: { call: POST /orders, look_up: { match: [billing] } }
              update: { call: "PATCH /orders/{id}" }
        """

    /// Whether a change that sends `sent` is said by a record with `shown`, and whether that may be the record it made.
    private func verdict(
        _ sent: String, _ shown: String, byEdit: Bool = false
    ) async throws -> (isSaid: Bool, mayBe: Bool) {
        let cache = try TestCache(schema: Self.schema)
        if byEdit {
            _ = try await cache.pull("orders", #"[{"id":"a"}]"#)
            try await cache.store.update("orders", key: "a", body: JSONText(parsing: sent), at: TestCache.now)
        } else {
            _ = try await cache.store.create("orders", body: JSONText(parsing: sent), at: TestCache.now)
        }
        let change = try #require(try cache.store.readyChanges(limit: 1, at: TestCache.now).first)
        let orders = try #require(try EntitySchema(yaml: Self.schema, file: "shop.yaml")["orders"])
        let record = try JSONText(parsing: shown)
        let fields = change.body.members.map(\.key).filter { $0 != "id" }
        return (change.isSaid(by: record, of: orders, fields), change.mayBe(record, of: orders, fields))
    }

    @Test(
        "a record with all that was sent, and more, is the one that was made",
        arguments: [
            (#"{"billing":{"city":"Leeds"}}"#, #"{"billing":{"name":"","city":"Leeds","country":null}}"#),
            (#"{"billing":{"city":"Leeds","name":null}}"#, #"{"billing":{"city":"Leeds","name":""}}"#),
            (#"{"billing":{"at":{"x":1}}}"#, #"{"billing":{"at":{"x":"1.0","y":"2"}}}"#),
            (#"{"lines":[{"sku":"a"},{"sku":"b"}]}"#, #"{"lines":[{"id":7,"sku":"a"},{"id":8,"sku":"b"}]}"#),
        ])
    func filled(_ sent: String, _ shown: String) async throws {
        let verdict = try await verdict(sent, shown)
        #expect(verdict.isSaid && verdict.mayBe)
    }

    @Test(
        "a record that lacks some of it, or has other values, is another one",
        arguments: [
            (#"{"billing":{"city":"Leeds","name":"A","street":"1"}}"#, #"{"billing":{"city":"Leeds"}}"#),
            (#"{"billing":{"city":"Leeds"}}"#, #"{"billing":{"city":"York","name":"A"}}"#),
            (#"{"billing":{}}"#, #"{"billing":{"city":"Leeds"}}"#),
            (#"{"lines":[{"sku":"a"}]}"#, #"{"lines":[{"id":8,"sku":"b"}]}"#),
        ])
    func other(_ sent: String, _ shown: String) async throws {
        let verdict = try await verdict(sent, shown)
        #expect(!verdict.isSaid && !verdict.mayBe)
    }

    @Test(
        "a list with more elements, or in another order, half of an object or other names may be what was sent",
        arguments: [
            (#"{"billing":{"post_code":"LS1","city-name":"A"}}"#, #"{"billing":{"postCode":"LS1","cityName":"A"}}"#),
            (#"{"billing":{"city":"Leeds","name":"A"}}"#, #"{"billing":{"city":"Leeds"}}"#),
            (#"{"lines":[{"sku":"a"}]}"#, #"{"lines":[{"id":7,"sku":"a"},{"id":8,"sku":"b"}]}"#),
            (#"{"lines":[{"sku":"a"},{"sku":"b"}]}"#, #"{"lines":[{"sku":"b","id":7},{"sku":"a","id":8}]}"#),
        ])
    func unsure(_ sent: String, _ shown: String) async throws {
        let verdict = try await verdict(sent, shown)
        #expect(!verdict.isSaid && verdict.mayBe)
    }

    @Test("an edit, which may have removed a member, is said only by what was sent")
    func edit() async throws {
        let sent = #"{"billing":{"city":"Leeds"}}"#
        #expect(try await !verdict(sent, #"{"billing":{"name":"A","city":"Leeds"}}"#, byEdit: true).isSaid)
        #expect(try await verdict(sent, sent, byEdit: true).isSaid)
    }
}

import EntitySchema
import Foundation
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Sealed fields")
struct SealedFieldTests {
    private let now = TestCache.now

    /// Without a secret field beside the sealed ones.
    @Test("a table with sealed fields alone seals what is pulled")
    func alone() async throws {
        let schema = Self.homes.replacing("code: { type: string, secret: true }", with: "code: { type: string }")
        let cache = try TestCache(schema: schema)
        _ = try await cache.pull("homes", #"[{"id":"a","address":"1 High Street"}]"#)
        #expect(try cache.values("homes", "a", "address") == [#""1 High Street""#])
        #expect(try files(of: cache, holding: "High Street") == [])
    }

    private static let homes = """
        schema: homes
        upstream: { base_url: "http://localhost" }
        entities:
          homes:
            fields:
              id: { type: string }
              name: { type: string, search: true }
              address: { type: string, sealed: true }
              sold: { type: boolean, sealed: true, default: false }
              code: { type: string, secret: true }
            pull: { path: /homes }
            push: { create: { call: POST /homes }, update: { call: "PATCH /homes/{id}" } }
        """

    private func cache(_ records: String) async throws -> TestCache {
        let cache = try TestCache(schema: Self.homes)
        _ = try await cache.pull("homes", records)
        return cache
    }

    private func keys(_ cache: TestCache, _ field: String, _ value: String) throws -> [String] {
        try cache.keys(
            ListQuery(entity: "homes", filters: [FilterCondition(field: field, comparison: .equal, values: [value])]))
    }

    private func files(of cache: TestCache, holding text: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: cache.folder.path).filter {
            try Data(contentsOf: cache.folder.url.appending(path: $0)).range(of: Data(text.utf8)) != nil
        }
    }

    @Test("readers see it, byte for byte, and no file has it in the clear")
    func shown() async throws {
        let cache = try await cache(#"[{"id":"a","address":"1 High\u0020Street","code":"4711"}]"#)
        #expect(try cache.record("homes", "a")?["address"]?.text == #""1 High\u0020Street""#)
        #expect(try cache.record("homes", "a")?["code"] == nil)
        try await cache.change("homes", "a", #"{"address":"2 Low Road","name":"Attic"}"#)
        let key = try await cache.make("homes", #"{"address":"3 Mill Lane"}"#)
        #expect(try cache.values("homes", "a", "address") == [#""2 Low Road""#])
        #expect(try cache.values("homes", key, "address", "sold") == [#""3 Mill Lane""#, "false"])
        for text in ["High", "2 Low Road", "3 Mill Lane", "4711"] { #expect(try files(of: cache, holding: text) == []) }
    }

    @Test("it is found by its whole value, whether it was pulled or written here, and by nothing else")
    func found() async throws {
        let cache = try await cache(#"[{"id":"a","address":"1 High Street","sold":true},{"id":"b","sold":false}]"#)
        try await cache.change("homes", "b", #"{"address":"2 Low Road"}"#)
        #expect(try keys(cache, "address", "1 High Street") == ["a"])
        #expect(try keys(cache, "address", "2 Low Road") == ["b"])
        #expect(try keys(cache, "address", "1 High") == [])
        #expect(try keys(cache, "sold", "true") == ["a"])
        let above = FilterCondition(field: "address", comparison: .greater, values: ["1"])
        #expect(throws: CacheError.self) { try cache.keys(ListQuery(entity: "homes", filters: [above])) }
        var sorted = ListQuery(entity: "homes")
        sorted.sort = [SortTerm(text: "address")]
        #expect(throws: CacheError.self) { try cache.keys(sorted) }
    }

    @Test("the queue, chosen fields and conditional writes show and take it in the clear")
    func elsewhere() async throws {
        let cache = try await cache(#"[{"id":"a","address":"1 High Street","code":"4711"}]"#)
        var chosen = ListQuery(entity: "homes")
        chosen.fields = ["address"]
        #expect(try JSONText(cache.store.list(chosen).records).elements.first?["address"] == "1 High Street")
        let version = try #require(try cache.store.shown("homes", key: "a")).version.record
        let body = try JSONText(parsing: #"{"address":"2 Low Road","code":"4712"}"#)
        try await cache.store.update("homes", key: "a", body: body, expecting: .oneOf([version]), at: now)
        let change = try #require(try cache.store.pending(PendingQuery()).changes.first)
        #expect(change["body"]?["address"] == "2 Low Road")
        #expect(change["body"]?["code"] == nil)
        #expect(try cache.store.readyChanges(limit: 1, at: now).first?.body["address"] == "2 Low Road")
    }

    @Test("the answer kept for a repeated call is sealed too, and given again in the clear")
    func repeated() async throws {
        let cache = try await cache("[]")
        let call = RepeatableCall(key: "k", request: Array("POST /v1/homes".utf8))
        for _ in 1...2 {
            let answer = try await cache.store.write(once: call, at: now) { transaction in
                let body = try JSONText(parsing: #"{"id":"a","address":"1 High Street"}"#)
                let key = try transaction.create("homes", body)
                return try transaction.shown("homes", key: key)?.stored.text ?? ""
            }
            #expect(answer.contains("1 High Street"))
        }
        #expect(try files(of: cache, holding: "High Street") == [])
    }

    @Test("a schema that starts to seal a field, shows a secret one, or stops sealing it, adapts what is stored")
    func adapted() async throws {
        let open = Self.homes.replacing("address: { type: string, sealed: true }", with: "address: { type: string }")
        let cache = try TestCache(schema: open)
        _ = try await cache.pull("homes", #"[{"id":"a","address":"1 High Street"}]"#)
        let sealed = try cache.reopened(schema: Self.homes)
        #expect(try keys(sealed, "address", "1 High Street") == ["a"])
        let hidden = try sealed.reopened(
            schema: Self.homes.replacing("address: { type: string, sealed", with: "address: { type: string, secret"))
        #expect(try hidden.record("homes", "a")?["address"] == nil)
        let opened = try hidden.reopened(schema: open)
        #expect(try opened.values("homes", "a", "address") == [#""1 High Street""#])
    }
}

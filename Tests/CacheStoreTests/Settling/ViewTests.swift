import EntitySchema
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Views: missing is not null")
struct ViewTests {
    private static let schema = """
        schema: shop
        upstream: { base_url: http://localhost }
        entities:
          orders:
            conflict: manual
            fields:
              id: { type: string }
              notes: { type: string }
              total: { type: money, from: totals.total, index: true }
              place: { type: string }
              tags: { type: list, merge: set }
              deep: { type: string }
            pull: { path: /orders, deleted: deleted_at }
            push:
              create: { call: POST /orders }
              update: { call: "PATCH /orders/{id}" }
              delete: { call: "DELETE /orders/{id}" }
        """

    private let now = TestCache.now

    private func cache(_ list: String? = nil) async throws -> TestCache {
        let cache = try TestCache(schema: Self.schema)
        if let list { _ = try await show(cache, list) }
        return cache
    }

    @discardableResult
    private func show(_ cache: TestCache, _ record: String, _ view: RecordView = .list) async throws -> PageOutcome {
        let page = PulledPage(entity: "orders", records: "[\(record)]", view: view)
        return try await cache.store.apply(page, at: now + .seconds(600))
    }

    private func remote(_ cache: TestCache) throws -> String? { try cache.store.remote(of: "orders", key: "a")?.text }

    @Test("#8 an answer with a part of the record replaces only that part", arguments: [#"{"id":"a"}"#, "{}", nil])
    func partialAnswer(answer: String?) async throws {
        let cache = try await cache(#"{"id":"a","notes":"n","place":"p"}"#)
        try await cache.change("orders", "a", #"{"notes":"m"}"#)
        try await cache.send(answer: answer)
        #expect(try remote(cache) == #"{"id":"a","notes":"m","place":"p"}"#)
    }

    @Test("a member that only an answer had goes when the record's own address lacks it")
    func answered() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#)
        try await cache.change("orders", "a", #"{"place":"p"}"#)
        try await cache.send(answer: #"{"id":"a","notes":"n","place":"p"}"#)
        try await show(cache, #"{"id":"a","notes":"n"}"#)
        #expect(try remote(cache) == #"{"id":"a","notes":"n","place":"p"}"#, "the list has never shown it")
        try await show(cache, #"{"id":"a","notes":"n"}"#, .single)
        #expect(try remote(cache) == #"{"id":"a","notes":"n"}"#)
    }

    @Test("a key that is a number in the list and text in the single record is one key")
    func keySpelling() async throws {
        let cache = try await cache(#"{"id":5,"notes":"n"}"#)
        _ = try await show(cache, #"{"id":"5","notes":"m"}"#, .single)
        #expect(try cache.store.remote(of: "orders", key: "5")?.text == #"{"id":5,"notes":"m"}"#)
        #expect(try cache.keys(ListQuery(entity: "orders")).count <= 1)
    }

    @Test("a record that came with its list has no note about views")
    func noNote() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#)
        let notes = try await cache.store.pool.read { db in try ViewTable(entity: "orders", db: db).isUsed() }
        #expect(!notes)
    }

    @Test("#8 a list with fewer members than the embedded record erases none")
    func embeddedFirst() async throws {
        let cache = try TestCache(
            schema: """
                schema: shop
                upstream: { base_url: http://localhost }
                entities:
                  orders:
                    fields: { id: { type: string } }
                    pull: { path: /orders, detail: { embedded: parts, into: parts } }
                  parts:
                    fields:
                      id: { type: string }
                      order_id: { type: reference, to: orders, index: true, required: true }
                      name: { type: string }
                      note: { type: string }
                    pull: { path: /parts }
                """)
        var page = PulledPage(entity: "orders", records: #"[{"id":"a"}]"#)
        page.children = [
            PulledChildren(
                entity: "parts", by: "order_id", records: #"[{"id":"p","order_id":"a","name":"x","note":"n"}]"#,
                parents: ["a"], complete: ["a"])
        ]
        _ = try await cache.store.apply(page, at: now)
        _ = try await cache.pull("parts", #"[{"id":"p","order_id":"a","name":"y"}]"#)
        let part = try cache.store.remote(of: "parts", key: "p")
        #expect(part?["name"] == "y" && part?["note"] == "n")
    }

    @Test("#8 a creation answered with its key alone has what was sent, and keeps it when the list shows less")
    func partialCreation() async throws {
        let cache = try await cache()
        _ = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"n","deep":"d"}"#), at: now)
        try await cache.send(answer: #"{"id":"a"}"#)
        #expect(try remote(cache) == #"{"id":"a","notes":"n","deep":"d"}"#)
        try await show(cache, #"{"id":"a","notes":"n"}"#)
        #expect(try cache.record("orders", "a")?["deep"] == "d")
        // The record's own address says what there is.
        try await show(cache, #"{"id":"a","notes":"n"}"#, .single)
        #expect(try cache.record("orders", "a")?["deep"] == nil)
    }

    @Test("#8 a list with fewer members than the record erases none, and each view takes back its own")
    func narrowList() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#)
        try await show(cache, #"{"id":"a","notes":"n","deep":"d","place":"p"}"#, .single)
        #expect(try await show(cache, #"{"id":"a","notes":"n"}"#).changed == false)
        #expect(try remote(cache) == #"{"id":"a","notes":"n","deep":"d","place":"p"}"#)
        try await show(cache, #"{"id":"a","notes":"m"}"#)
        #expect(try remote(cache) == #"{"id":"a","notes":"m","deep":"d","place":"p"}"#)
        try await show(cache, #"{"id":"a","notes":"m","deep":"d"}"#, .single)
        #expect(try remote(cache) == #"{"id":"a","notes":"m","deep":"d"}"#)
    }

    @Test("a member that two views had goes when one of them no longer has it", arguments: [RecordView.list, .single])
    func bothViews(_ view: RecordView) async throws {
        let list = #"{"id":"a","notes":"n","place":"p"}"#
        let single = #"{"id":"a","notes":"n","place":"p","deep":"d"}"#
        let cache = try await cache(list)
        try await show(cache, single, .single)
        try await show(cache, (view == .list ? list : single).replacing(#""place":"p""#, with: #""more":"m""#), view)
        #expect(try cache.record("orders", "a")?["place"] == nil)
        #expect(try cache.record("orders", "a")?["deep"] == "d")
    }

    @Test("a view's spelling of what was sent counts; of two views, the list's does")
    func spelling() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#)
        try await cache.change("orders", "a", #"{"tags":["b","a"]}"#)
        try await cache.send(answer: #"{"id":"a"}"#)
        try await show(cache, #"{"id":"a","tags":["a","b"]}"#, .single)
        #expect(try cache.store.remote(of: "orders", key: "a")?["tags"]?.text == #"["a","b"]"#)
        for _ in 1...2 {
            try await show(cache, #"{"id":"a","tags":["b","a"]}"#)
            try await show(cache, #"{"id":"a","tags":["a","b"]}"#, .single)
            #expect(try cache.store.remote(of: "orders", key: "a")?["tags"]?.text == #"["b","a"]"#)
        }
    }

    @Test("a member that the list had and no longer has is gone, byte for byte as the server says")
    func sameView() async throws {
        let cache = try await cache(#"{"id":"a", "notes":"n", "place":"p"}"#)
        try await show(cache, #"{"id":"a",  "place":"p"}"#)
        #expect(try remote(cache) == #"{"id":"a",  "place":"p"}"#)
        try await show(cache, #"{"place":"q","id":"a","deep":"d"}"#, .single)
        #expect(try remote(cache) == #"{"place":"q","id":"a","deep":"d"}"#)
    }

    @Test("#8 a field that a view has in another place has its newest value")
    func moved() async throws {
        let cache = try await cache(#"{"id":"a","total":1,"place":"p"}"#)
        try await show(cache, #"{"id":"a","totals":{"total":2}}"#, .single)
        #expect(try total(cache) == 2)
        #expect(try cache.record("orders", "a")?["place"] == "p")
        try await show(cache, #"{"id":"a","total":3,"place":"p"}"#)
        #expect(try total(cache) == 3)
        try await show(cache, #"{"id":"a","totals":{"total":4}}"#, .single)
        #expect(try total(cache) == 4)
    }

    @Test(
        "a view that repeats under a field's name what another has in its other place changes nothing, again and again")
    func repeated() async throws {
        let list = #"{"id":"a","notes":"n","total":5}"#
        let cache = try await cache(list)
        try await show(cache, #"{"id":"a","notes":"n","totals":{"total":5.00}}"#, .single)
        let known = try remote(cache)
        for _ in 1...2 {
            #expect(try await show(cache, list).written == 0)
            #expect(try await show(cache, #"{"id":"a","notes":"n","totals":{"total":5.00}}"#, .single).written == 0)
        }
        #expect(try remote(cache) == known)
        try await show(cache, #"{"id":"a","notes":"n","total":6}"#)
        #expect(try total(cache) == 6)
    }

    @Test("a null in a field's other place takes back what was sent under its name")
    func sentAndNull() async throws {
        let there = #"{"id":"a","notes":"n","totals":{"total":null}}"#
        let cache = try await cache(there)
        try await cache.change("orders", "a", #"{"total":5}"#)
        try await cache.send(answer: nil)
        #expect(try total(cache) == 5 && remote(cache)?.contains(#""total":5"#) == true)
        try await show(cache, there)
        #expect(try remote(cache) == there)
        #expect(try total(cache) == nil)
    }

    @Test("so does the answer to a creation")
    func createdAndNull() async throws {
        let cache = try await cache()
        _ = try await cache.store.create("orders", body: JSONText(parsing: #"{"id":"a","total":5}"#), at: now)
        let answer = #"{"id":"a","totals":{"total":null}}"#
        try await cache.send(answer: answer)
        #expect(try remote(cache) == answer)
    }

    @Test("a null there takes back nothing that another view has under the field's name")
    func shownAndNull() async throws {
        let cache = try await cache(#"{"id":"a","total":5}"#)
        try await show(cache, #"{"id":"a","totals":{"total":null}}"#, .single)
        #expect(try total(cache) == 5)
    }

    @Test("#8 a member that a list lacks is neither a conflict with a queued edit nor erased by it")
    func missingIsNotNull() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#)
        try await show(cache, #"{"id":"a","notes":"n","deep":"d"}"#, .single)
        try await cache.change("orders", "a", #"{"deep":"mine"}"#)
        try await show(cache, #"{"id":"a","notes":"x"}"#)
        #expect(try cache.conflictCount() == 0)
        #expect(try cache.record("orders", "a")?["deep"] == "mine")
    }

    @Test("a value that another view shows for the first time is no change; the same view would have had it")
    func fuller() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#)
        try await cache.change("orders", "a", #"{"deep":"mine"}"#)
        try await show(cache, #"{"id":"a","notes":"n","deep":"d"}"#, .single)
        #expect(try cache.conflictCount() == 0)
        try await show(cache, #"{"id":"a","notes":"n","deep":"theirs"}"#, .single)
        #expect(try cache.conflictCount() == 1)
        let other = try await self.cache(#"{"id":"a","notes":"n"}"#)
        try await other.change("orders", "a", #"{"deep":"mine"}"#)
        try await show(other, #"{"id":"a","notes":"n","deep":"theirs"}"#)
        #expect(try other.conflictCount() == 1)
    }

    @Test(
        "nor is it a change when the answer to an earlier edit shows it first", arguments: [RecordView.answer, .single])
    func fullerAnswer(view: RecordView) async throws {
        for isDeletion in [false, true] {
            let cache = try await cache(#"{"id":"a","notes":"n"}"#)
            try await cache.change("orders", "a", #"{"notes":"m"}"#)
            let change = try await cache.begun()
            if isDeletion {
                try await cache.store.delete("orders", key: "a", at: now)
            } else {
                try await cache.change("orders", "a", #"{"deep":"mine"}"#)
            }
            let answer = try JSONText(parsing: #"{"id":"a","notes":"m","deep":"d"}"#)
            try await cache.store.finish(change.id, .acknowledged(record: answer, view: view), at: now)
            #expect(try cache.conflictCount() == 0)
        }
    }

    @Test(
        "the value that the server gives a new record, whose answer had the key alone, is no conflict with a later edit"
    )
    func defaulted() async throws {
        let cache = try await cache()
        _ = try await cache.store.create("orders", body: JSONText(parsing: #"{"id":"a","notes":"n"}"#), at: now)
        let creation = try await cache.begun()
        try await cache.change("orders", "a", #"{"deep":"mine"}"#)
        let answer = try JSONText(parsing: #"{"id":"a"}"#)
        try await cache.store.finish(creation.id, .acknowledged(record: answer, view: .answer), at: now)
        try await show(cache, #"{"id":"a","notes":"n","deep":"default"}"#)
        #expect(try cache.conflictCount() == 0)
        #expect(try cache.record("orders", "a")?["deep"] == "mine")
        try await show(cache, #"{"id":"a","notes":"n","deep":"theirs"}"#)
        #expect(try cache.conflictCount() == 1)
    }

    /// A cache with a new record whose creation got no answer.
    private func cacheWithLostCreation() async throws -> TestCache {
        let cache = try await cache()
        _ = try await cache.store.create("orders", body: JSONText(parsing: #"{"id":"a","notes":"n"}"#), at: now)
        let creation = try await cache.begun()
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(creation.id, .waiting(lost, at: now, counted: true), at: now)
        return cache
    }

    @Test("nor is the one that a view shows before the creation is answered", arguments: [RecordView.list, .single])
    func defaultedEarly(view: RecordView) async throws {
        let cache = try await cacheWithLostCreation()
        try await cache.change("orders", "a", #"{"deep":"mine"}"#)
        try await show(cache, #"{"id":"a","notes":"n","deep":"default"}"#, view)
        #expect(try cache.conflictCount() == 0)
        #expect(try cache.record("orders", "a")?["deep"] == "mine")
        try await show(cache, #"{"id":"a","notes":"n","deep":"theirs"}"#, view)
        #expect(try cache.conflictCount() == 1)
    }

    @Test("what others have made of a field that the creation set, before a view shows it, is in conflict with an edit")
    func setEarly() async throws {
        for (shown, conflicts) in [("n", 0), ("theirs", 1)] {
            let cache = try await cacheWithLostCreation()
            try await cache.change("orders", "a", #"{"notes":"mine"}"#)
            try await show(cache, #"{"id":"a","notes":"\#(shown)"}"#)
            #expect(try cache.conflictCount() == conflicts, "\(shown)")
        }
    }

    @Test(
        "a record with its changed members alone takes nothing away, of no view, and confirms no change that it lacks")
    func partial() async throws {
        let since = "deleted: deleted_at, since: { token: next, param: after, partial: true }"
        let cache = try TestCache(schema: Self.schema.replacing("deleted: deleted_at", with: since))
        try await show(cache, #"{"id":"a","notes":"n","place":"p"}"#)
        try await show(cache, #"{"id":"a","notes":"n","place":"p","deep":"d"}"#, .single)
        try await cache.change("orders", "a", #"{"place":"mine"}"#)
        try await cache.send(answer: nil)
        var page = PulledPage(entity: "orders", records: #"[{"id":"a","notes":"m","totals":{"total":1}}]"#)
        page.isDelta = true
        _ = try await cache.store.apply(page, at: now)
        page.records = #"[{"id":"a","place":"p"}]"#
        _ = try await cache.store.apply(page, at: now)
        let record = try #require(try cache.record("orders", "a"))
        #expect(record["notes"] == "m" && record["place"] == "mine" && record["deep"] == "d")
        #expect(try total(cache) == 1)
    }

    @Test("a deletion is no conflict because another view has more members")
    func deletion() async throws {
        let cache = try await cache(#"{"id":"a","notes":"n"}"#)
        try await cache.store.delete("orders", key: "a", at: now)
        try await show(cache, #"{"id":"a","notes":"n","deep":"d"}"#, .single)
        #expect(try cache.conflictCount() == 0)
    }

    @Test("what views have is forgotten with the record, and follows its key")
    func cleanedUp() async throws {
        let cache = try await cache()
        let key = try await cache.store.create("orders", body: JSONText(parsing: #"{"notes":"n"}"#), at: now)
        try await cache.send(answer: #"{"id":"a","deep":"d"}"#)
        #expect(try views(cache) == ["a"])
        #expect(try cache.record("orders", key)?["notes"] == "n")
        try await show(cache, #"{"id":"a","deleted_at":"x"}"#)
        #expect(try views(cache).isEmpty)
    }

    private func total(_ cache: TestCache) throws -> Int? {
        let entity = try #require(cache.store.schema["orders"])
        return try cache.record("orders", "a").flatMap { entity.value(of: "total", in: $0)?.integer }
    }

    private func views(_ cache: TestCache) throws -> [String] {
        try cache.store.read { db in try String.fetchAll(db, sql: "SELECT record_key FROM sync_view") }
    }
}

import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Conflicts of an edit whose answer was lost")
struct TriedConflictTests {
    private let now = TestCache.now

    /// With such an edit, and a page of the server's version after it. Returns the key of the attempt.
    private func tried(
        _ policy: String, _ edit: String = #"{"notes":"mine"}"#, then server: String
    ) async throws -> (cache: TestCache, key: String) {
        let cache = try await TestCache.with(orders: #"[{"id":"a","notes":"n"}]"#, conflict: policy)
        try await cache.change("orders", "a", edit)
        let change = try await cache.begun()
        let lost = PushFailure(.timeout, message: "no answer")
        try await cache.store.finish(change.id, .waiting(lost, at: now, counted: true), at: now)
        _ = try await cache.pull("orders", "[\(server)]")
        return (cache, change.idempotencyKey)
    }

    @Test(
        "if it wins, it gets a new idempotency key, since the first attempt may be what others have replaced",
        arguments: ["local_wins", "manual"])
    func newKey(policy: String) async throws {
        let (cache, key) = try await tried(policy, then: #"{"id":"a","notes":"theirs"}"#)
        if policy == "manual" {
            let conflict = try #require(cache.store.conflicts(before: nil, open: true, limit: 9).conflicts.first)
            try await cache.store.resolve(Int64(try #require(conflict["id"]?.integer)), for: .local, at: now)
        }
        let again = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(again.body.text == #"{"notes":"mine"}"# && again.idempotencyKey != key)
        _ = try await cache.pull("orders", #"[{"id":"a","notes":"theirs","total":1}]"#)
        let later = try #require(try cache.store.readyChanges(limit: 1, at: now).first)
        #expect(later.idempotencyKey == again.idempotencyKey, "nothing new is decided")
    }

    @Test("it keeps its key while the server shows nothing but what was sent")
    func sameKey() async throws {
        let (cache, key) = try await tried("local_wins", then: #"{"id":"a","notes":"mine","total":1}"#)
        #expect(try cache.store.readyChanges(limit: 1, at: now).first?.idempotencyKey == key)
    }

    @Test("a field that has arrived is no conflict beside one that others have changed since")
    func arrivedField() async throws {
        let edit = #"{"notes":"mine","total":5}"#
        let (cache, _) = try await tried("server_wins", edit, then: #"{"id":"a","notes":"theirs","total":5}"#)
        let conflicts = try cache.store.conflicts(before: nil, open: false, limit: 9).conflicts
        #expect(conflicts.map { $0["field"]?.string } == ["notes"])
        #expect(try cache.store.pendingCount().pending == 0)
    }

    @Test(
        "a long part of a list or object that was sent is what the server made of it; a short one may be another's",
        arguments: [
            (#"["pick up the phone at noon","b","c"]"#, #"["b"]"#, #"["pick up the phone at noon","b"]"#, true),
            (#"["a","b","c"]"#, #"["c"]"#, #"["a","c"]"#, false),
            (#"["b","c"]"#, #"["pick up the phone at noon","b"]"#, #"["pick up the phone at noon","b"]"#, false),
            (#"["pick up the phone at noon","b"]"#, "null", #"["pick up the phone at noon","x"]"#, false),
            (#"{"city":"Newcastle upon Tyne","x":1}"#, "{}", #"{"city":"Newcastle upon Tyne"}"#, true),
            (#"{"city":"Leeds","x":1}"#, #"{"city":"York"}"#, #"{"city":"Leeds"}"#, false),
        ])
    func parts(_ sent: String, _ before: String, _ server: String, isCut: Bool) throws {
        let (sent, before) = (try JSONText(parsing: sent), try JSONText(parsing: before))
        #expect(Merge.isCut(sent, from: before, to: try JSONText(parsing: server)) == isCut)
    }
}

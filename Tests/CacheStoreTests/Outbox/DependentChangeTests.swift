import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Changes that depend on a creation")
struct DependentChangeTests {
    private static let schema = """
        schema: notes
        upstream: { base_url: http://localhost }
        entities:
          notes:
            fields:
              id: { type: string }
              text: { type: string }
              above_id: { type: reference, to: notes }
              beside_id: { type: reference, to: notes }
            pull: { path: /notes }
            push:
              create: { call: POST /notes }
              update: { call: "PATCH /notes/{id}" }
        """

    private static let withPeople = """
        schema: notes
        upstream: { base_url: http://localhost }
        entities:
          teams: { fields: { id: { type: string } }, pull: { path: /teams } }
          people:
            fields: { id: { type: string }, team_id: { type: reference, to: teams } }
            pull: { path: /people }
            push: { create: { call: POST /people } }
            order_within: team_id
          notes:
            fields:
              id: { type: string }
              team_id: { type: reference, to: teams }
              person_id: { type: reference, to: people }
            pull: { path: /notes }
            push: { create: { call: POST /notes } }
            order_within: team_id
        """

    private static let withoutPeople = """
        schema: notes
        upstream: { base_url: http://localhost }
        entities:
          teams: { fields: { id: { type: string } }, pull: { path: /teams } }
          notes:
            fields:
              id: { type: string }
              team_id: { type: reference, to: teams }
              person_id: { type: string }
            pull: { path: /notes }
            push: { create: { call: POST /notes } }
            order_within: team_id
        """

    /// Note n0, and these below it: each below the one before, or all below the first.
    private func cache(_ count: Int, isChain: Bool) async throws -> TestCache {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.make("notes", #"{"id":"n0"}"#)
        for number in 1..<count {
            _ = try await cache.make("notes", #"{"id":"n\#(number)","above_id":"n\#(isChain ? number - 1 : 0)"}"#)
        }
        return cache
    }

    @Test("a creation is discarded with all that refer to it, in a chain or side by side", arguments: [true, false])
    func creations(isChain: Bool) async throws {
        let cache = try await cache(200, isChain: isChain)
        _ = try await cache.make("notes", #"{"id":"other"}"#)
        let first = try #require(try cache.store.readyChanges(limit: 1, at: TestCache.now).first)
        let error = await #expect(throws: CacheError.self) {
            try await cache.store.discard(first.id, cascade: false, at: TestCache.now)
        }
        guard case .needed(let ids, _)? = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        let others = (1..<200).map { first.id + Int64($0) }
        #expect(ids == others)
        try await cache.store.discard(first.id, cascade: true, at: TestCache.now)
        #expect(try cache.keys(ListQuery(entity: "notes")) == ["other"])
        #expect(try cache.store.pendingCount().pending == 1)
    }

    @Test("a change that refers to a new record depends on it, also if it writes the key with an escape")
    func escapedKey() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.make("notes", #"{"id":"above"}"#)
        _ = try await cache.make("notes", #"{"id":"below","above_id":"\u0061bove"}"#)
        let first = try #require(try cache.store.readyChanges(limit: 1, at: TestCache.now).first)
        await #expect(throws: CacheError.self) {
            try await cache.store.discard(first.id, cascade: false, at: TestCache.now)
        }
    }

    @Test("what waits for a creation of an entity that the schema lost is blocked by it, and goes only with it")
    func lostEntity() async throws {
        let cache = try TestCache(schema: Self.withPeople)
        _ = try await cache.make("people", #"{"id":"p"}"#)
        _ = try await cache.make("notes", #"{"id":"n","person_id":"p"}"#)
        let ids = try cache.store.pending(PendingQuery(limit: 9)).changes.compactMap { $0["id"]?.integer }
        try #require(ids.count == 2)
        let other = try cache.reopened(schema: Self.withoutPeople)
        let changes = try other.store.pending(PendingQuery(limit: 9)).changes
        #expect(changes.map { $0["state"]?.string } == ["blocked", "blocked"])
        #expect(changes.map { $0["blocked_by"]?.integer } == [nil, ids[0]])
        let error = await #expect(throws: CacheError.self) {
            try await other.store.discard(Int64(ids[0]), cascade: false, at: TestCache.now)
        }
        guard case .needed(let needed, _)? = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(needed == [Int64(ids[1])])
        try await other.store.discard(Int64(ids[0]), cascade: true, at: TestCache.now)
        #expect(try other.store.pendingCount().pending == 0)
    }

    @Test("what follows a creation of a lost entity only in the order of a group stays when that is discarded")
    func followerOfLost() async throws {
        let cache = try TestCache(schema: Self.withPeople)
        _ = try await cache.pull("teams", #"[{"id":"t"}]"#)
        _ = try await cache.make("people", #"{"id":"person-1","team_id":"t"}"#)
        _ = try await cache.make("notes", #"{"id":"named","person_id":"person-1"}"#)
        _ = try await cache.make("notes", #"{"id":"other","team_id":"t"}"#)
        let creation = try #require(try cache.store.readyChanges(limit: 9, at: TestCache.now).first)
        #expect(creation.key == "person-1")
        let other = try cache.reopened(schema: Self.withoutPeople)
        #expect(try other.store.readyChanges(limit: 9, at: TestCache.now).isEmpty)
        try await other.store.discard(creation.id, cascade: true, at: TestCache.now)
        #expect(try other.store.readyChanges(limit: 9, at: TestCache.now).map(\.key) == ["other"])
    }

    @Test("an edit that refers to a new record depends on it, and one of a known record alone does not")
    func edits() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("notes", #"[{"id":"known"},{"id":"moved"}]"#)
        _ = try await cache.make("notes", #"{"id":"new"}"#)
        try await cache.change("notes", "known", #"{"text":"edited"}"#)
        try await cache.change("notes", "moved", #"{"above_id":"new"}"#)
        let first = try #require(try cache.store.readyChanges(limit: 1, at: TestCache.now).first)
        try await cache.store.discard(first.id, cascade: true, at: TestCache.now)
        #expect(try cache.store.readyChanges(limit: 9, at: TestCache.now).map(\.key) == ["known"])
    }

    @Test("one that no longer refers to a refused creation is sent, unless another field still does")
    func movedElsewhere() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("notes", #"[{"id":"known"},{"id":"edited"}]"#)
        _ = try await cache.make("notes", #"{"id":"refused"}"#)
        _ = try await cache.make("notes", #"{"id":"one","above_id":"refused"}"#)
        _ = try await cache.make("notes", #"{"id":"two","above_id":"refused","beside_id":"refused"}"#)
        try await cache.change("notes", "edited", #"{"above_id":"refused"}"#)
        try await cache.send(.failed(PushFailure(.refused, status: 422, message: "no")))
        func ready() throws -> [String] { try cache.store.readyChanges(limit: 9, at: TestCache.now).map(\.key) }
        #expect(try ready().isEmpty)
        for key in ["one", "two", "edited"] { try await cache.change("notes", key, #"{"above_id":"known"}"#) }
        #expect(try ready() == ["one", "edited"])
    }

    @Test("one that no longer refers to a creation of its group still follows it")
    func inOrder() async throws {
        let cache = try TestCache(schema: Self.schema + "\n    order_within: text")
        _ = try await cache.pull("notes", #"[{"id":"known","text":"t"}]"#)
        _ = try await cache.make("notes", #"{"id":"first","text":"t"}"#)
        _ = try await cache.make("notes", #"{"id":"second","text":"t","above_id":"first"}"#)
        try await cache.change("notes", "second", #"{"above_id":"known"}"#)
        #expect(try cache.store.pendingCount().pending == 2)
        #expect(try cache.store.readyChanges(limit: 9, at: TestCache.now).map(\.key) == ["first"])
    }

    @Test("a new one that moves to another group leaves those of its former group behind")
    func otherGroup() async throws {
        let cache = try TestCache(schema: Self.schema + "\n    order_within: above_id")
        _ = try await cache.pull("notes", #"[{"id":"known"}]"#)
        _ = try await cache.make("notes", #"{"id":"refused"}"#)
        for key in ["behind", "moved"] { _ = try await cache.make("notes", #"{"id":"\#(key)","above_id":"refused"}"#) }
        try await cache.send(.failed(PushFailure(.refused, status: 422, message: "no")))
        try await cache.change("notes", "moved", #"{"above_id":"known"}"#)
        func ready() throws -> [String] { try cache.store.readyChanges(limit: 9, at: TestCache.now).map(\.key) }
        #expect(try ready() == ["moved"])
        _ = try await cache.make("notes", #"{"id":"later","above_id":"known"}"#)
        #expect(try ready() == ["moved"])
    }

    @Test("a new one that moves to another group waits for those there, and those behind it for those before it")
    func orderOfBothGroups() async throws {
        let cache = try TestCache(schema: Self.schema + "\n    order_within: text")
        for (key, group) in [("there", "u"), ("first", "t"), ("moved", "t"), ("last", "t")] {
            _ = try await cache.make("notes", #"{"id":"\#(key)","text":"\#(group)"}"#)
        }
        try await cache.change("notes", "moved", #"{"text":"u"}"#)
        func ready() throws -> [String] { try cache.store.readyChanges(limit: 9, at: TestCache.now).map(\.key) }
        #expect(try ready() == ["there", "first"])
        try await cache.send(answer: #"{"id":"there","text":"u"}"#)
        let moved = try #require(try cache.store.readyChanges(limit: 9, at: TestCache.now).last)
        try #require(moved.key == "moved")
        #expect(try await cache.store.begin(moved, at: TestCache.now))
        try await cache.store.finish(moved.id, .acknowledged(record: nil), at: TestCache.now)
        #expect(try ready() == ["first"])
    }

    @Test("an edit that refers to its own record waits for the creation also when it no longer does")
    func ownCreation() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("notes", #"[{"id":"known"}]"#)
        _ = try await cache.make("notes", #"{"id":"new"}"#)
        _ = try await cache.begun()
        for above in ["new", "known"] { try await cache.change("notes", "new", #"{"above_id":"\#(above)"}"#) }
        #expect(try cache.store.pendingCount().pending == 2)
        #expect(try cache.store.readyChanges(limit: 9, at: TestCache.now).isEmpty)
    }

    @Test("an old edit is to be merged before it is sent, but not while it waits for a creation that failed")
    func held() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("notes", #"[{"id":"known"}]"#)
        _ = try await cache.make("notes", #"{"id":"new"}"#)
        try await cache.change("notes", "known", #"{"above_id":"new"}"#)
        let later = TestCache.now + .seconds(60)
        func held() throws -> [String] { try cache.store.entitiesWithHeldChanges(outside: later...later) }
        #expect(try held() == ["notes"])
        let creation = try #require(try cache.store.readyChanges(limit: 1, at: TestCache.now).first)
        #expect(try await cache.store.begin(creation, at: TestCache.now))
        let refusal = PushFailure(.refused, status: 422, message: "no")
        try await cache.store.finish(creation.id, .failed(refusal), at: TestCache.now)
        #expect(try held().isEmpty)
        #expect(try await cache.store.retry(nil, at: TestCache.now) == 1)
        #expect(try held() == ["notes"])
    }
}

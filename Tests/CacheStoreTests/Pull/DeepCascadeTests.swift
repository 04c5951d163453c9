import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// Records that cascade to one another in long chains, across entities and in rings, or to very many.
@Suite("Deep and wide cascades")
struct DeepCascadeTests {
    private static let schema = """
        schema: archive
        upstream: { base_url: http://localhost }
        entities:
          folders:
            fields:
              id: { type: string }
              note_id: { type: reference, to: notes }
              note_count: { type: integer, derive: { count: notes } }
            many: { notes: { of: notes, by: folder_id, on_delete: cascade } }
            pull: { path: /folders, deleted: deleted_at }
            push:
              update: { call: "PATCH /folders/{id}" }
              delete: { call: "DELETE /folders/{id}" }
          notes:
            fields:
              id: { type: string }
              text: { type: string, search: true }
              folder_id: { type: reference, to: folders }
            many:
              folders: { of: folders, by: note_id, on_delete: cascade }
              locks: { of: locks, by: note_id, on_delete: deny }
            pull: { path: /notes, deleted: deleted_at }
            push:
              create: { call: POST /notes }
              update: { call: "PATCH /notes/{id}" }
              delete: { call: "DELETE /notes/{id}" }
          locks:
            fields: { id: { type: string }, note_id: { type: reference, to: notes } }
            pull: { path: /locks }
            push: { delete: { call: "DELETE /locks/{id}" } }
        """

    private static let tombstone = #"[{"id":"f0","deleted_at":"2026-01-01"}]"#

    /// Folder f0 has note n0, which has folder f1, which has note n1, and so on.
    private func chain(_ levels: Int) async throws -> TestCache {
        let cache = try TestCache(schema: Self.schema)
        let folders = (0..<levels / 2).map { number in
            number == 0 ? #"{"id":"f0"}"# : #"{"id":"f\#(number)","note_id":"n\#(number - 1)"}"#
        }
        let notes = (0..<levels / 2).map { #"{"id":"n\#($0)","folder_id":"f\#($0)"}"# }
        _ = try await cache.pull("folders", "[\(folders.joined(separator: ","))]")
        _ = try await cache.pull("notes", "[\(notes.joined(separator: ","))]")
        return cache
    }

    /// Folder f0 has this many notes, and one of them has a folder.
    private func fan(_ count: Int) async throws -> TestCache {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull("folders", #"[{"id":"f0"},{"id":"other"},{"id":"below","note_id":"n7"}]"#)
        let notes = (0..<count).map { #"{"id":"n\#($0)","folder_id":"f0"}"# }
        _ = try await cache.pull("notes", "[\(notes.joined(separator: ","))]")
        return cache
    }

    @Test("a tombstone deletes a chain of thousands of records in two entities")
    func deepThere() async throws {
        let cache = try await chain(TestRun.isFull ? 20_000 : 4000)
        #expect(try await cache.pull("folders", Self.tombstone).deleted == 1)
        #expect(try cache.store.rowCounts() == ["folders": 0, "notes": 0, "locks": 0])
    }

    @Test("a chain is hidden when its first record is deleted here, returns on discard, and goes on confirmation")
    func deepHere() async throws {
        let cache = try await chain(2000)
        try await cache.store.delete("folders", key: "f0", at: TestCache.now)
        #expect(try cache.keys(ListQuery(entity: "notes")).isEmpty)
        let change = try #require(try cache.store.readyChanges(limit: 1, at: TestCache.now).first)
        try await cache.store.discard(change.id, cascade: false, at: TestCache.now)
        #expect(try cache.record("notes", "n999") != nil)
        try await cache.store.delete("folders", key: "f0", at: TestCache.now)
        try await cache.send(.acknowledged(record: nil))
        #expect(try cache.store.rowCounts() == ["folders": 0, "notes": 0, "locks": 0])
    }

    @Test("a ring through two entities is deleted once, and what refers to it with it")
    func ring() async throws {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull(
            "folders",
            #"[{"id":"f0","note_id":"n1"},{"id":"f1","note_id":"n0"},{"id":"f2","note_id":"n1"},{"id":"f3"}]"#)
        _ = try await cache.pull("notes", #"[{"id":"n0","folder_id":"f0"},{"id":"n1","folder_id":"f1"}]"#)
        _ = try await cache.pull("folders", Self.tombstone)
        #expect(try cache.store.rowCounts() == ["folders": 1, "notes": 0, "locks": 0])
        #expect(try cache.record("folders", "f3") != nil)
    }

    @Test("a tombstone deletes 5,000 children and what is below them; one that was edited here becomes a conflict")
    func wideThere() async throws {
        let cache = try await fan(5000)
        try await cache.change("notes", "n4999", #"{"text":"edited"}"#)
        _ = try await cache.pull("folders", Self.tombstone)
        #expect(try cache.store.conflicts(before: nil, open: false, limit: 10).conflicts.count == 1)
        #expect(try cache.store.rowCounts() == ["folders": 1, "notes": 0, "locks": 0])
        #expect(try cache.record("folders", "other") != nil)
    }

    private func pending(_ cache: TestCache) throws -> [String] {
        try cache.store.pending(PendingQuery(limit: 10)).changes.map {
            "\($0["operation"]?.plain ?? "") \($0["entity"]?.plain ?? "")"
        }
    }

    @Test("a deletion here hides 5,000 children, drops what was never sent of them, and waits for what left")
    func wideHere() async throws {
        let cache = try await fan(5000)
        try await cache.change("notes", "n1", #"{"text":"never sent"}"#)
        _ = try await cache.make("notes", #"{"folder_id":"f0"}"#)
        try await cache.change("notes", "n2", #"{"folder_id":"other"}"#)
        try await cache.change("folders", "below", #"{"note_id":null}"#)
        try await cache.store.delete("notes", key: "n3", at: TestCache.now)
        try await cache.store.delete("folders", key: "f0", at: TestCache.now)
        #expect(try pending(cache) == ["update notes", "update folders", "delete notes", "delete folders"])
        #expect(try cache.keys(ListQuery(entity: "notes")) == ["n2"])
        #expect(try cache.values("folders", "other", "note_count") == ["1"])
        let first = try cache.store.readyChanges(limit: 10, at: TestCache.now).map(\.operation)
        #expect(first == [.update, .update, .delete])
        for _ in 0..<4 { try await cache.send(.acknowledged(record: nil)) }
        #expect(try cache.store.rowCounts() == ["folders": 2, "notes": 1, "locks": 0])
    }

    @Test("a rule denies the deletion of a record far below, and the error counts what refers to it")
    func denied() async throws {
        let cache = try await chain(200)
        _ = try await cache.pull("locks", #"[{"id":"a","note_id":"n99"},{"id":"b","note_id":"n99"}]"#)
        let error = await #expect(throws: CacheError.self) {
            try await cache.store.delete("folders", key: "f0", at: TestCache.now)
        }
        #expect(error == .conflict("notes/n99 still has 2 locks; delete or move them first"))
        #expect(try cache.store.pendingCount().pending == 0)
    }
}

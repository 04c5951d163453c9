import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("The consistency check")
struct ConsistencyCheckTests {
    static let schema = """
        schema: workshop
        upstream: { base_url: http://localhost }
        reminders:
          job_due: { of: jobs, at: due, before: 1h, text: "{title} is due", unless: { status: [done] } }
        entities:
          jobs:
            title: "{title}"
            fields:
              id: { type: string }
              title: { type: string, search: words }
              number: { type: string, search: fragments }
              status: { type: enum, index: true, values: { open: Open, done: Done } }
              price: { type: money, index: true }
              due: { type: time, index: true }
              label: { type: string, derive: { text: "{number} {title}" } }
              photo_count: { type: integer, derive: { count: photos } }
              size: { type: number, derive: { sum: photos.size } }
              latest: { type: string, derive: { latest: photos.caption, by: at } }
            many:
              photos: { of: photos, by: job_id, on_delete: cascade }
            pull: { path: /jobs, deleted: deleted }
            push:
              create: { call: POST /jobs }
              update: { call: "PATCH /jobs/{id}" }
              delete: { call: "DELETE /jobs/{id}" }
          photos:
            fields:
              id: { type: string }
              job_id: { type: reference, to: jobs, index: true }
              caption: { type: string }
              size: { type: number }
              at: { type: time }
              url: { type: string }
              upload_status: { type: string, index: true }
              state:
                type: enum
                values: { pending: Pending, sent: Sent, failed: Failed }
                follow: { queued: pending, acknowledged: sent, failed: failed, then: [] }
            content: { url: url, upload: { call: "PUT /photos/{id}/content" },
                       delete: { call: "DELETE /photos/{id}/content" }, state: upload_status }
            pull: { path: /photos, deleted: deleted }
            push:
              create: { call: POST /photos }
              update: { call: "PATCH /photos/{id}" }
              delete: { call: "DELETE /photos/{id}" }
        """

    private static let content = Content(sha256: String(repeating: "1", count: 64), size: 100, type: "image/png")

    /// A cache with records of every kind: as the server says, changed, created, hidden, with content.
    private func cache() async throws -> TestCache {
        let cache = try TestCache(schema: Self.schema)
        _ = try await cache.pull(
            "jobs",
            """
            [{"id":"a","title":"New battery","number":"A-100","status":"open","price":"12.50","due":"2026-12-01"},
             {"id":"b","title":"Cracked glass","number":"A-200","status":"done","price":7,"due":"2026-12-02T10:00:00Z",
              "photo_count":4},
             {"id":"c","title":null,"price":"on request","due":"tomorrow"}]
            """)
        _ = try await cache.pull(
            "photos",
            """
            [{"id":"p","job_id":"a","caption":"before","size":0.1,"at":"2026-11-01T00:00:00Z"},
             {"id":"q","job_id":"a","caption":"after","size":0.2,"at":"2026-11-02T00:00:00Z"},
             {"id":"r","job_id":"b","size":null}, {"id":"s","job_id":"c"}]
            """)
        try await cache.change("jobs", "a", #"{"title":"New battery and case"}"#)
        try await cache.change("photos", "q", #"{"job_id":"b","caption":null}"#)
        try await cache.store.delete("jobs", key: "c", at: TestCache.now)
        _ = try await cache.make("photos", #"{"job_id":"b","caption":"new"}"#)
        try await cache.store.write(at: TestCache.now) { try $0.setContent("photos", key: "p", Self.content) }
        return cache
    }

    @Test
    func `finds nothing in a sound database, whatever state its search index is in`() async throws {
        let cache = try await cache()
        #expect(try cache.store.inconsistencies() == [])
        try await cache.store.catchUpSearch()
        #expect(try cache.store.inconsistencies() == [])
        try await cache.change("jobs", "b", #"{"title":"Cracked screen","number":"A-201"}"#)
        _ = try await cache.pull("jobs", #"[{"id":"a","deleted":true},{"id":"d","title":"Key"}]"#)
        #expect(try cache.store.inconsistencies() == [])
    }

    @Test
    func `finds nothing in a database that another connection uses`() async throws {
        let cache = try await cache()
        let schema = cache.store.schema
        #expect(
            try CacheStore.inconsistencies(ofDatabaseAt: cache.path, schema, .utc, atMost: 10) == [])
    }

    @Test
    func `refuses a database that was not adapted to the schema`() async throws {
        let cache = try await cache()
        let schema = try EntitySchema(
            yaml: Self.schema.replacing("status: { type: enum,", with: "state: { type: enum,")
                .replacing("unless: { status: [done] }", with: "unless: { state: [done] }"),
            file: "other.yaml")
        #expect(throws: CacheError.self) {
            try CacheStore.inconsistencies(ofDatabaseAt: cache.path, schema, .utc, atMost: 10)
        }
    }

    struct Damage: Sendable, CustomTestStringConvertible {
        var part: Inconsistency.Part
        var place: String
        var sql: String
        /// Search catches up first.
        var isIndexed = false

        var testDescription: String { sql }
    }

    private static func replacing(_ text: String, by other: String) -> String {
        """
        UPDATE records_jobs SET _remote = replace(_remote, '\(text)', '\(other)'),
          _document = replace(_document, '\(text)', '\(other)')
        """
    }

    static let damages = [
        Damage(part: .column, place: "jobs/a", sql: "UPDATE records_jobs SET status = 'done' WHERE _key = 'a'"),
        Damage(part: .column, place: "jobs/a", sql: "UPDATE records_jobs SET price = NULL WHERE _key = 'a'"),
        Damage(part: .column, place: "jobs/b", sql: "UPDATE records_jobs SET due = due + 1 WHERE _key = 'b'"),
        Damage(part: .displaced, place: "photos/q", sql: "UPDATE records_photos SET _displaced = 0 WHERE _key = 'q'"),
        Damage(part: .displaced, place: "photos/p", sql: "UPDATE records_photos SET _displaced = 1 WHERE _key = 'p'"),
        Damage(part: .overlay, place: "jobs/a", sql: "UPDATE records_jobs SET _local = NULL WHERE _key = 'a'"),
        Damage(
            part: .overlay, place: "jobs/a", sql: #"UPDATE records_jobs SET _local = '{"title":"x"}' WHERE _key = 'a'"#),
        Damage(part: .overlay, place: "jobs/b", sql: "UPDATE records_jobs SET _local = '{}' WHERE _key = 'b'"),
        Damage(part: .overlay, place: "photos/q", sql: "UPDATE records_photos SET _document = NULL WHERE _key = 'q'"),
        Damage(part: .overlay, place: "jobs/b", sql: "UPDATE records_jobs SET _document = NULL WHERE _key = 'b'"),
        Damage(part: .overlay, place: "photos/s", sql: "UPDATE records_photos SET _deleted = 0 WHERE _key = 's'"),
        Damage(part: .overlay, place: "jobs/b", sql: "UPDATE records_jobs SET _deleted = 1 WHERE _key = 'b'"),
        Damage(part: .overlay, place: "jobs/a", sql: "UPDATE sync_outbox SET record_key = 'z' WHERE record_key = 'a'"),
        Damage(part: .overlay, place: "jobs/z", sql: "UPDATE sync_outbox SET record_key = 'z' WHERE record_key = 'a'"),
        Damage(part: .overlay, place: "jobs/b", sql: "UPDATE records_jobs SET _remote = NULL WHERE _key = 'b'"),
        Damage(part: .derived, place: "jobs/a", sql: "UPDATE records_jobs SET _derived = NULL WHERE _key = 'a'"),
        Damage(
            part: .derived, place: "jobs/b",
            sql: "UPDATE records_jobs SET _derived = json_set(_derived, '$.photo_count', 9) WHERE _key = 'b'"),
        Damage(
            part: .counter, place: "count rows:jobs", sql: "UPDATE sync_tally SET count = 9 WHERE name = 'rows:jobs'"),
        Damage(
            part: .counter, place: "count conflicts", sql: "UPDATE sync_tally SET count = 9 WHERE name = 'conflicts'"),
        Damage(part: .counter, place: "count drift", sql: "UPDATE sync_tally SET count = 99 WHERE name = 'drift'"),
        Damage(part: .counter, place: "count set_aside", sql: "DELETE FROM sync_tally WHERE name = 'set_aside'"),
        Damage(part: .content, place: "content 111111111111…", sql: "UPDATE sync_content SET uses = uses + 1"),
        Damage(part: .content, place: "content 111111111111…", sql: "UPDATE sync_content SET queued = 0"),
        Damage(part: .content, place: "content 111111111111…", sql: "DELETE FROM sync_content"),
        Damage(part: .search, place: "jobs/a", sql: "DELETE FROM sync_jobs_outdated"),
        Damage(
            part: .search, place: "jobs/a", sql: "UPDATE sync_jobs_outdated SET f_title = 'New batteries' WHERE _pk = 1"
        ),
        Damage(part: .search, place: "jobs/b", sql: replacing("glass", by: "screen")),
        Damage(
            part: .search, place: "jobs/b", sql: replacing("200", by: "201"),
            isIndexed: true),
        Damage(part: .search, place: "jobs/a", sql: "UPDATE sync_search SET indexed_to = 0", isIndexed: true),
        Damage(part: .reminder, place: "jobs/a", sql: "DELETE FROM sync_reminder"),
        Damage(part: .reminder, place: "jobs/a", sql: "UPDATE sync_reminder SET due_at = due_at + 1"),
        Damage(part: .reminder, place: "jobs/a", sql: "UPDATE sync_reminder SET withdrawn = 1"),
        Damage(part: .reminder, place: "jobs/b", sql: "UPDATE sync_reminder SET record_key = 'b'"),
    ]

    /// The same cache after a statement that goes past the writer of records.
    private func cache(damagedBy sql: String, isIndexed: Bool = false) async throws -> TestCache {
        let cache = try await cache()
        cache.isDamaged = true
        if isIndexed { try await cache.store.catchUpSearch() }
        try await cache.store.pool.write { db in try db.execute(sql: sql) }
        return cache
    }

    @Test("names the record that is damaged", arguments: damages)
    func finds(_ damage: Damage) async throws {
        let cache = try await cache(damagedBy: damage.sql, isIndexed: damage.isIndexed)
        let found = try cache.store.inconsistencies(atMost: 100)
        #expect(found.contains { $0.part == damage.part && $0.place == damage.place }, "\(found)")
    }

    @Test
    func `notices a content whose uses are not counted`() async throws {
        let cache = try await cache(
            damagedBy: """
                CREATE TRIGGER mutation AFTER UPDATE OF uses ON sync_content
                BEGIN UPDATE sync_content SET uses = OLD.uses WHERE sha256 = NEW.sha256; END
                """)
        try await cache.store.write(at: TestCache.now) { try $0.setContent("photos", key: "r", Self.content) }
        #expect(try cache.store.inconsistencies().map(\.part) == [.content])
    }

    @Test
    func `fails a test that leaves an inconsistent database`() async throws {
        await withKnownIssue {
            let cache = try await cache(damagedBy: "UPDATE records_jobs SET status = 'x'")
            cache.isDamaged = false
        }
    }

    @Test
    func `stops at the number that it is asked for`() async throws {
        let cache = try await cache(damagedBy: "UPDATE records_jobs SET status = 'x', price = 'x'")
        #expect(try cache.store.inconsistencies(atMost: 2).count == 2)
    }

    @Test
    func `never quotes a value`() async throws {
        let cache = try await cache(
            damagedBy: #"UPDATE records_jobs SET status = 'confidential', _local = '{"title":"confidential"}'"#)
        let text = try cache.store.inconsistencies(atMost: 100).map(\.description).joined(separator: "\n")
        #expect(text.contains("the column status differs from the document"))
        #expect(!text.contains("confidential"))
        #expect(!text.contains("battery"))
    }
}

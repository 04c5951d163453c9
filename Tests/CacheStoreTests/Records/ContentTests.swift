import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import CacheStore

struct ContentTests {
    private static let home = """
        schema: home
        upstream: { base_url: http://localhost }
        entities:
          photos:
            conflict: last_write_wins
            fields:
              id: { type: string }
              caption: { type: string }
              url: { type: string }
              upload_status: { type: string, index: true }
            content: { url: url, upload: { call: "PUT /photos/{id}/content" },
                       delete: { call: "DELETE /photos/{id}/content" }, state: upload_status }
            pull: { path: /photos }
            push:
              create: { call: POST /photos }
              update: { call: "PATCH /photos/{id}" }
              delete: { call: "DELETE /photos/{id}" }
        """

    private let cache: TestCache
    private var store: CacheStore { cache.store }
    private let one = Content(sha256: String(repeating: "1", count: 64), size: 100, type: "image/png")
    private let other = Content(sha256: String(repeating: "2", count: 64), size: 50, type: "image/jpeg")

    init() throws { cache = try TestCache(schema: Self.home) }

    private func set(_ content: Content?, of key: String) async throws {
        try await store.write(at: TestCache.now) { try $0.setContent("photos", key: key, content) }
    }

    private func pulled() async throws {
        _ = try await cache.pull("photos", #"[{"id":"a","url":"/a"},{"id":"b","url":"/b"}]"#)
    }

    /// Finishes the first change that is ready.
    private func finish(_ outcome: PushOutcome) async throws {
        for change in try store.readyChanges(limit: 9, at: TestCache.now, in: .content) {
            #expect(try await store.begin(change, at: TestCache.now))
            try await store.finish(change.id, outcome, at: TestCache.now)
        }
    }

    @Test
    func `exports a queued upload into another database, and does not sweep its file`() async throws {
        try await pulled()
        try await set(one, of: "a")
        try await set(nil, of: "b")
        let other = try TestCache(schema: Self.home)
        let queue = try ExportedQueue(text: ExportedQueue(ofDatabaseAt: cache.path).text())
        _ = try await other.store.take(queue, at: TestCache.now)
        let changes = try other.store.readyChanges(limit: 9, at: TestCache.now, in: .content)
        #expect(changes.map(\.content) == [.upload(one), .removal])
        #expect(try await other.store.forgetUnusedContent(retire: { _ in }) == nil)
    }

    @Test
    func `rescues a queued upload from a damaged database, even from its bare pages`() async throws {
        try await pulled()
        try await set(one, of: "a")
        try cache.store.close()
        for isScanned in [false, true] {
            var merge = QueueMerge()
            if isScanned {
                merge.add(try #require(QueueSnapshot(scanning: cache.path, withLog: true)))
            } else {
                DamagedFile(path: cache.path, backups: []).forEachReading { merge.add($0) }
            }
            let reading = merge.queue
            #expect(reading.changes.map(\.carriedContent?.sha256) == [one.sha256])
            #expect(reading.changes.first?.contentType == (isScanned ? nil : one.type))
        }
    }

    /// The contents that a sweep removes.
    private func forgotten() async throws -> Set<String> {
        let all = Mutex<Set<String>>([])
        while try await store.forgetUnusedContent(retire: { name in all.withLock { _ = $0.insert(name) } }) != nil {}
        return all.withLock { $0 }
    }

    private func state(_ key: String) throws -> JSONText? { try cache.record("photos", key)?["upload_status"] }

    // MARK: The queue

    @Test func `moves a waiting upload into the database that replaces a damaged one`() async throws {
        try await pulled()
        try await set(one, of: "a")
        try store.close()
        let file = try #require(FileHandle(forUpdatingAtPath: cache.path))
        try file.write(contentsOf: Data(count: 100))
        try file.close()
        let report = try await QueueRescue(
            path: cache.path, schema: EntitySchema(yaml: Self.home, file: "home.yaml"), sealer: RescueFixture.sealer(),
            backups: [], makeID: { UUID().uuidString }
        ).run(reason: "test", at: TestCache.now)
        #expect(report.rescued == 1)
        let new = try TestCache(schema: Self.home, in: cache.folder)
        let ready = try new.store.readyChanges(limit: 9, at: TestCache.now, in: .content)
        #expect(ready.map(\.content) == [.upload(one)])
        #expect(try await new.store.forgetUnusedContent(retire: { _ in }) == nil)
    }

    @Test func `shows the state of an upload, and filters by it`() async throws {
        try await pulled()
        try await set(one, of: "a")
        #expect(try state("a") == "queued")
        let change = try #require(try store.readyChanges(limit: 1, at: TestCache.now, in: .content).first)
        #expect(try await store.begin(change, at: TestCache.now))
        #expect(try state("a") == "uploading")
        let failure = PushFailure(.refused, message: "no")
        try await store.finish(change.id, .failed(failure), at: TestCache.now)
        #expect(try state("a") == "failed")
        #expect(try cache.record("photos", "a")?.at(path: "_sync.state") == "error")
        _ = try await store.retry(change.id, at: TestCache.now)
        #expect(try state("a") == "queued")
        try await finish(.acknowledged(record: nil))
        #expect(try state("a") == "uploaded")
        #expect(try cache.record("photos", "a")?.at(path: "_sync.state") == "synced")
    }

    @Test func `sends content after the creation of its record, and does not delay edits`() async throws {
        let key = try await store.create("photos", body: JSONText(parsing: #"{"caption":"x"}"#), at: TestCache.now)
        try await set(one, of: key)
        #expect(try store.readyChanges(limit: 9, at: TestCache.now, in: .content).isEmpty)
        let creation = try #require(try store.readyChanges(limit: 9, at: TestCache.now).first)
        #expect(try await store.begin(creation, at: TestCache.now))
        let answer = try JSONText(parsing: #"{"id":"p1","caption":"x"}"#)
        try await store.finish(creation.id, .acknowledged(record: answer), at: TestCache.now)
        try await store.update("photos", key: key, body: JSONText(parsing: #"{"caption":"y"}"#), at: TestCache.now)
        let upload = try #require(try store.readyChanges(limit: 9, at: TestCache.now, in: .content).first)
        #expect(upload.request(of: try #require(store.schema["photos"]))?.path == "/photos/p1/content")
        #expect(upload.content == .upload(one))
        let edits = try store.readyChanges(limit: 9, at: TestCache.now)
        #expect(edits.map { $0.body.text } == [#"{"caption":"y"}"#])
    }

    @Test func `replaces a waiting upload, and retries a failed one`() async throws {
        try await pulled()
        try await set(one, of: "a")
        try await set(other, of: "a")
        try await set(other, of: "a")
        #expect(try store.pendingCount().pending == 1)
        #expect(try store.contentStatus(of: "a", "photos")?.here == other)
        #expect(try await forgotten() == [one.sha256])
        try await finish(.failed(PushFailure(.refused, message: "no")))
        try await set(other, of: "a")
        #expect(try store.pendingCount() == PendingCount(pending: 1, failed: 0))
    }

    @Test(arguments: [("url: url", "/a", 0), (#"path: "/photos/{id}/file""#, "/photos/a/file", 1)])
    func `sends the same content again only if others may have replaced it unseen`(
        place: String, address: String, uploads: Int
    ) async throws {
        let cache = try TestCache(schema: Self.home.replacing("url: url", with: place))
        _ = try await cache.pull("photos", #"[{"id":"a","url":"/a"}]"#)
        try await cache.store.keep(one, of: "a", "photos", from: address, at: TestCache.now) {}
        try await cache.store.write(at: TestCache.now) { try $0.setContent("photos", key: "a", one) }
        #expect(try cache.store.readyChanges(limit: 9, at: TestCache.now, in: .content).count == uploads)
    }

    @Test(arguments: [(59, 0), (61, 1)])
    func `sends the same content to a path again only a minute after it was sent`(
        seconds: Int, uploads: Int
    ) async throws {
        let cache = try TestCache(schema: Self.home.replacing("url: url", with: #"path: "/photos/{id}/file""#))
        _ = try await cache.pull("photos", #"[{"id":"a"}]"#)
        func set(at time: Timestamp) async throws -> [OutboxChange] {
            try await cache.store.write(at: time) { try $0.setContent("photos", key: "a", one) }
            return try cache.store.readyChanges(limit: 9, at: time, in: .content)
        }
        let first = try #require(try await set(at: TestCache.now).first)
        #expect(try await cache.store.begin(first, at: TestCache.now))
        try await cache.store.finish(first.id, .acknowledged(record: nil), at: TestCache.now)
        #expect(try await set(at: TestCache.now + .seconds(seconds)).count == uploads)
    }

    @Test func `shows the server's content again when an upload is discarded`() async throws {
        try await pulled()
        try await store.keep(one, of: "a", "photos", from: "/a", at: TestCache.now) {}
        try await set(other, of: "a")
        #expect(try store.contentStatus(of: "a", "photos")?.here == other)
        let id = try #require(try store.readyChanges(limit: 1, at: TestCache.now, in: .content).first?.id)
        try await store.discard(id, cascade: false, at: TestCache.now)
        #expect(try store.contentStatus(of: "a", "photos")?.here == one)
        #expect(try await forgotten() == [other.sha256])
    }

    @Test func `deletes content without deleting its record`() async throws {
        try await pulled()
        try await store.keep(one, of: "a", "photos", from: "/a", at: TestCache.now) {}
        try await set(nil, of: "a")
        #expect(try store.contentStatus(of: "a", "photos")?.here == nil)
        try await finish(.acknowledged(record: try JSONText(parsing: #"{"id":"a","url":null}"#)))
        #expect(try await forgotten() == [one.sha256])
        #expect(try cache.record("photos", "a") != nil)
    }

    @Test func `does not let a change of content be corrected as fields`() async throws {
        try await pulled()
        try await set(one, of: "a")
        let id = try #require(try store.readyChanges(limit: 1, at: TestCache.now, in: .content).first?.id)
        await #expect(throws: CacheError.self) {
            try await store.correct(id, setting: JSONText(parsing: #"{"caption":"x"}"#), at: TestCache.now)
        }
    }

    // MARK: Counting

    @Test func `keeps a content as long as any record uses it`() async throws {
        try await pulled()
        try await store.keep(one, of: "a", "photos", from: "/a", at: TestCache.now) {}
        try await set(one, of: "b")
        _ = try await cache.store.apply(
            PulledPage(entity: "photos", records: #"[{"id":"a","url":"/a"},{"id":"b","url":"/b"}]"#), at: TestCache.now)
        try await store.delete("photos", key: "a", at: TestCache.now)
        for change in try store.readyChanges(limit: 9, at: TestCache.now) {
            _ = try await store.begin(change, at: TestCache.now)
            try await store.finish(change.id, .acknowledged(record: nil), at: TestCache.now)
        }
        #expect(try await forgotten().isEmpty)
        try await store.delete("photos", key: "b", at: TestCache.now)
        #expect(try await forgotten() == [one.sha256])
    }

    @Test func `notices when the server has another content`() async throws {
        try await pulled()
        try await store.keep(one, of: "a", "photos", from: "/a", at: TestCache.now) {}
        #expect(try store.contentStatus(of: "a", "photos")?.isOutdated == false)
        _ = try await cache.pull("photos", #"[{"id":"a","url":"/a?v=2"}]"#)
        #expect(try store.contentStatus(of: "a", "photos")?.isOutdated == true)
    }

    @Test func `evicts the least recently used content, and never one waiting to be uploaded`() async throws {
        try await pulled()
        _ = try await cache.pull("photos", #"[{"id":"c","url":"/c"}]"#)
        let third = Content(sha256: String(repeating: "3", count: 64), size: 70, type: "image/png")
        try await store.keep(one, of: "a", "photos", from: "/a", at: TestCache.now) {}
        try await store.keep(third, of: "c", "photos", from: "/c", at: TestCache.now + .seconds(1)) {}
        try await set(other, of: "b")
        try await store.noteUse(of: one.sha256, at: TestCache.now + .seconds(2))
        #expect(try await store.dropContents(beyond: 160) == 1)
        #expect(try await forgotten() == [third.sha256])
        #expect(try await store.dropContents(beyond: 0) == 1)
        #expect(try await forgotten() == [one.sha256])
        #expect(try store.contentBytes() == other.size)
    }

    @Test func `moves no file into place for a write that fails`() async throws {
        let installed = Mutex(false)
        await #expect(throws: CacheError.self) {
            try await store.write(at: TestCache.now) { transaction in
                try transaction.setContent("photos", key: "none", one) { installed.withLock { $0 = true } }
            }
        }
        #expect(!installed.withLock { $0 })
    }

    @Test func `removes contents when the schema no longer has any`() async throws {
        try await pulled()
        try await store.keep(one, of: "a", "photos", from: "/a", at: TestCache.now) {}
        let schema = Self.home.split(separator: "\n").filter { !$0.contains("/content") }.joined(separator: "\n")
        let reopened = try cache.reopened(schema: schema)
        #expect(try reopened.store.contentBytes() == 0)
    }
}

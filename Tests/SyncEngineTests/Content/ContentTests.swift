import CacheStore
import ContentStore
import EntitySchema
import Foundation
import JSONText
import Logging
import SQLiteStore
import Secrets
import SyncEngine
import TestSupport
import Testing
import Upstream

@Suite(.timeLimit(.minutes(10)))
struct ContentTests {
    private static let home = """
        schema: home
        upstream: { base_url: http://localhost, idempotency_header: Idempotency-Key, pagination: { style: page } }
        entities:
          photos:
            fields:
              id: { type: string }
              caption: { type: string }
              url: { type: string }
              upload_status: { type: string }
            content: { url: url, upload: { call: "PUT /photos/{id}/content" }, max_size: 1KiB, state: upload_status }
            pull: { path: /photos }
            push: { update: { call: "PATCH /photos/{id}" } }
        """
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    private let upstream: PictureUpstream
    private let store: CacheStore
    private let folder: TemporaryFolder
    private let contents: ContentFolder
    private let engine: SyncEngine
    private let photos: Entity
    private let now: @Sendable () -> Timestamp = { .sample }

    init() async throws {
        try await self.init(picture: Self.png)
    }

    private init(picture: [UInt8], home: String = Self.home) async throws {
        let records = FakeUpstream()
        try records.set("/photos", #"[{"id":"a","url":"/a"},{"id":"b","url":"/b"}]"#)
        upstream = PictureUpstream(records: records, picture: picture)
        let schema = try EntitySchema(yaml: home, file: "home.yaml")
        photos = try #require(schema["photos"])
        store = try CacheStore.temporary(schema)
        folder = try TemporaryFolder()
        contents = try ContentFolder(path: folder.path("content"))
        engine = SyncEngine(
            store: store, contents: contents, upstream: upstream,
            settings: SyncSettings(
                writeDelay: .zero, parallel: 1, retry: RetryPolicy(base: .milliseconds(1), cap: .milliseconds(1))),
            time: SyncTime(clock: UnhurriedClock(), now: now), random: { 0.5 },
            log: .silent)
        _ = try await store.apply(
            PulledPage(entity: "photos", records: #"[{"id":"a","url":"/a"},{"id":"b","url":"/b"}]"#), at: now())
    }

    private func put(_ bytes: [UInt8], on key: String) async throws {
        let draft = try contents.draft(limit: 1000)
        try draft.write(bytes)
        let content = try await contents.finish(draft, type: "image/png")
        try await store.write(at: now()) { [contents] transaction in
            try transaction.setContent("photos", key: key, content) { try contents.install(draft, as: content.sha256) }
        }
        engine.noteLocalWrite()
    }

    private func running(_ body: () async throws -> Void) async throws {
        try await whileRunning({ [engine] in try await engine.run() }) {
            defer { upstream.release() }
            try await body()
        }
    }

    private func field(_ name: String, of key: String) throws -> JSONText? {
        try store.record("photos", key: key).map { try JSONText($0) }?[name]
    }

    // MARK: Uploads

    @Test func `sends the whole file and marks it as uploaded`() async throws {
        try await running {
            try await put(Self.png, on: "a")
            try await store.until { try field("upload_status", of: "a") == "uploaded" }
        }
        #expect(upstream.uploads.map(\.bytes) == [Self.png])
        #expect(upstream.uploads.map(\.path) == ["/photos/a/content"])
    }

    @Test func `slow pictures do not hold up records`() async throws {
        upstream.hold()
        try await running {
            try await put(Self.png, on: "a")
            try await put(Self.png + [4], on: "b")
            try await store.until {
                try field("upload_status", of: "a") == "uploading" && field("upload_status", of: "b") == "uploading"
            }
            try await store.update("photos", key: "a", body: JSONText(parsing: #"{"caption":"x"}"#), at: now())
            engine.noteLocalWrite()
            try await store.until {
                try store.readyChanges(limit: 9, at: now()).isEmpty && store.pendingCount().pending == 2
            }
            #expect(try field("upload_status", of: "a") == "uploading")
            upstream.release()
            try await store.until { try store.pendingCount().pending == 0 }
        }
    }

    @Test func `repeats the whole upload under the same key when an answer was lost`() async throws {
        upstream.fail(.unclear(status: nil, "cut off"), .unclear(status: 502, "bad gateway"))
        try await running {
            try await put(Self.png, on: "a")
            try await store.until { try store.pendingCount().pending == 0 }
        }
        #expect(upstream.uploads.map(\.bytes) == [Self.png, Self.png, Self.png])
        #expect(Set(upstream.uploads.map(\.key)).count == 1)
    }

    @Test(arguments: [true, false])
    func `repeats an upload whose answer does not say that it was accepted, unless the content is there`(
        _ isThere: Bool
    ) async throws {
        if !isThere { upstream.set([1], at: "/a") }
        upstream.fail(.unclear(status: 200, "answered 200 without saying that the change was accepted"))
        try await running {
            try await put(Self.png, on: "a")
            try await store.until { try store.pendingCount().pending == 0 }
        }
        #expect(try store.pendingCount().failed == 0)
        #expect(upstream.uploads.count == (isThere ? 1 : 2))
    }

    @Test(arguments: [
        [UpstreamError.barred(status: 303, "answered 303")],
        [.unclear(status: nil, "cut off"), .refused(status: 422, "answered 422: there is one")],
    ])
    func `an upload that is redirected, or refused after a lost answer, is done if the content is there`(
        _ answers: [UpstreamError]
    ) async throws {
        for answer in answers { upstream.fail(answer) }
        try await running {
            try await put(Self.png, on: "a")
            try await store.until { try store.pendingCount().pending == 0 }
        }
        #expect(try store.pendingCount().failed == 0)
        #expect(upstream.uploads.count == answers.count)
    }

    @Test func `asks for the content before a POST without a key is repeated`() async throws {
        let home = Self.home.replacing("PUT", with: "POST").replacing("idempotency_header: Idempotency-Key, ", with: "")
        let test = try await ContentTests(picture: Self.png, home: home)
        test.upstream.set([1], at: "/a")
        try test.upstream.records.set("/photos", #"[{"id":"a","url":"/new"},{"id":"b","url":"/b"}]"#)
        test.upstream.fail(.unclear(status: nil, "cut off"))
        try await test.running {
            try await test.put(Self.png, on: "a")
            try await test.store.until { try test.store.pendingCount().pending == 0 }
        }
        #expect(test.upstream.uploads.count == 1)
    }

    @Test func `fails an upload without its file`() async throws {
        try await running {
            upstream.hold()
            upstream.fail(.unclear(status: 503, "later"))
            try await put(Self.png, on: "a")
            try await store.until { try field("upload_status", of: "a") == "uploading" }
            for name in try contents.all() { try contents.retire(name) }
            upstream.release()
            try await store.until { try field("upload_status", of: "a") == "failed" }
        }
    }

    // MARK: Fetching

    @Test func `fetches once for all callers of the same content`() async throws {
        upstream.hold()
        async let one = engine.fetchContent(of: "a", photos)
        async let other = engine.fetchContent(of: "a", photos)
        while upstream.downloads.isEmpty { await Task.yield() }
        upstream.release()
        #expect(await [one, other] == [.stored, .stored])
        #expect(upstream.downloads == ["/a"])
        let content = try #require(try store.contentStatus(of: "a", "photos")?.here)
        #expect(try contents.open(content.sha256)?.read(at: 0, count: 99) == Self.png)
    }

    @Test(arguments: [
        [UInt8](repeating: 0x89, count: 2000), Array("<html>not found</html>".utf8), [0xFF, 0xD8] as [UInt8],
    ])
    func `keeps nothing that is too large or of another type than declared`(_ picture: [UInt8]) async throws {
        let test = try await ContentTests(picture: picture)
        guard case .stored = await test.engine.fetchContent(of: "a", test.photos) else {
            #expect(try test.contents.all().isEmpty)
            return
        }
        Issue.record("it was kept")
    }

    @Test(arguments: [true, false])
    func `reads the record for another address if the one that it named has expired`(_ isRefused: Bool) async throws {
        if isRefused {
            upstream.refuse("/a", .barred(status: 403, "GET /a answered 403"))
        } else {
            upstream.set(Array("<html>expired</html>".utf8), at: "/a")
        }
        try upstream.records.set("/photos", #"[{"id":"a","url":"/a?signed=2"}]"#)
        #expect(await engine.fetchContent(of: "a", photos) == .stored)
        #expect(upstream.downloads == ["/a", "/a?signed=2"])
        #expect(try store.contentStatus(of: "a", "photos")?.isOutdated == false)
    }

    @Test func `does not ask twice at the address that the record still names`() async throws {
        upstream.refuse("/a", .refused(status: 400, "GET /a answered 400"))
        #expect(await engine.fetchContent(of: "a", photos) == .unavailable("GET /a answered 400"))
        #expect(upstream.downloads == ["/a"])
        #expect(upstream.records.recordRequests == 1)
    }

    @Test(arguments: [UpstreamError.unclear(status: nil, "timeout"), .unclear(status: 503, "busy")])
    func `reads no record because the host of its content fails`(_ error: UpstreamError) async throws {
        upstream.refuse("/a", error)
        #expect(await engine.fetchContent(of: "a", photos) == .failed(error.message))
        #expect(upstream.downloads == ["/a"])
        #expect(upstream.records.recordRequests == 0)
    }

    // MARK: Keeping

    @Test func `deletes dropped files and files left by a crash`() async throws {
        #expect(await engine.fetchContent(of: "a", photos) == .stored)
        let orphan = try contents.draft(limit: 10)
        try orphan.write([1])
        let left = try await contents.finish(orphan, type: "")
        try contents.install(orphan, as: left.sha256)
        let keeper = ContentKeeper(
            store: store, contents: contents, limit: 0, clock: ContinuousClock(), log: Logger(label: "test"))
        try await keeper.sweep()
        #expect(try contents.all().count == 1)
        try await keeper.tidy()
        #expect(try contents.all().isEmpty)
        #expect(try store.contentStatus(of: "a", "photos")?.here == nil)
    }
}

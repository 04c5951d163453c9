import ContentStore
import EntitySchema
import JSONText
import Logging
import SQLiteStore
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// Records that are created by uploading their content, without idempotency keys.
@Suite(.timeLimit(.minutes(10)))
struct CarriedContentTests {
    private static let home = """
        schema: home
        upstream: { base_url: http://localhost, pagination: { style: page }, settle: 1s }
        entities:
          photos:
            fields:
              id: { type: string }
              caption: { type: string }
              kind: { type: enum, values: { before: Before, after: After } }
            content: { path: "/photos/{id}/file" }
            pull: { path: /photos }
            push:
              create: { call: POST /photos, file: file, look_up: { match: [caption, kind] } }
              update: { call: "PATCH /photos/{id}" }
          notes:
            fields:
              id: { type: string }
              photo_id: { type: reference, to: photos }
            pull: { path: /notes }
            push: { create: { call: POST /notes, look_up: { match: [photo_id] } } }
        """
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    private let upstream: PictureUpstream
    private let store: CacheStore
    private let folder: TemporaryFolder
    private let contents: ContentFolder
    private let time = ManualClock()

    init() throws {
        let records = FakeUpstream(pageSize: 9)
        try records.set("/photos", #"[{"id":"a","caption":"old"}]"#)
        upstream = PictureUpstream(records: records, picture: Self.png)
        store = try CacheStore.temporary(EntitySchema(yaml: Self.home, file: "home.yaml"))
        folder = try TemporaryFolder()
        contents = try ContentFolder(path: folder.path("content"))
    }

    private func create(_ caption: String, _ bytes: [UInt8]?) async throws -> String {
        let body = JSONText.object(["caption": .string(caption)])
        let key = try await store.create("photos", body: body, at: time.timestamp)
        if let bytes { try await put(bytes, on: key) }
        return key
    }

    private func put(_ bytes: [UInt8], on key: String) async throws {
        let draft = try contents.draft(limit: 1000)
        try draft.write(bytes)
        let content = try await contents.finish(draft, type: "image/png")
        try await store.write(at: time.timestamp) { [contents] transaction in
            try transaction.setContent("photos", key: key, content) { try contents.install(draft, as: content.sha256) }
        }
    }

    /// Sends what is ready in a lane after a while, once, without the engine.
    private func send(_ lane: PushLane = .content, after delay: Duration = .zero) async throws {
        let now = time.timestamp + delay
        let pusher = Pusher.test(
            store, contents, to: upstream, at: now, callableSince: time.timestamp, lane: lane)
        for change in try store.readyChanges(limit: 9, at: now, in: lane) { _ = try await pusher.send(change) }
    }

    private var created: [JSONText] { upstream.records.records("/photos").filter { $0["caption"] != "old" } }

    @Test func `nothing is sent without the content, and one request with it`() async throws {
        let key = try await create("x", nil)
        let note = try JSONText(parsing: #"{"photo_id":"\#(key)"}"#)
        _ = try await store.create("notes", body: note, at: time.timestamp)
        for lane in [PushLane.fields, .content] { try await send(lane) }
        #expect(upstream.uploads.isEmpty && upstream.records.pushes.isEmpty)
        try await put(Self.png, on: key)
        try await send()
        try await send(.fields)
        #expect(upstream.uploads.map(\.bytes) == [Self.png])
        #expect(upstream.records.pushes.map(\.request.path) == ["/photos", "/notes"])
        #expect(upstream.records.pushes.last?.request.body?["photo_id"] == "server-1")
        #expect(try store.pendingCount().pending == 0)
    }

    @Test func `a creation whose answer is lost is looked up and not repeated`() async throws {
        let key = try await create("x", Self.png)
        upstream.records.fail(.unclear(status: nil, "cut off"), afterApplying: true)
        try await send()
        #expect(try store.pendingCount().pending == 1)
        try await send(after: .seconds(60))
        #expect(upstream.uploads.count == 1 && created.count == 1)
        #expect(try store.pendingCount().pending == 0)
        let status = try #require(try store.contentStatus(of: key, "photos"))
        #expect(status.key == "server-1" && status.here != nil && !status.isQueued)
    }

    @Test func `a creation that did not arrive is sent again with its content`() async throws {
        _ = try await create("x", Self.png)
        upstream.records.fail(.unclear(status: nil, "cut off"))
        try await send()
        try await send(after: .seconds(60))
        #expect(upstream.uploads.map(\.bytes) == [Self.png, Self.png])
        #expect(created.count == 1)
        #expect(try store.pendingCount().pending == 0)
    }

    @Test func `two lost creations with the same values are told apart by their contents`() async throws {
        let first = try await create("x", Self.png)
        let second = try await create("x", Self.png + [4])
        // Only the second one arrives.
        upstream.records.fail(.unclear(status: nil, "cut off"))
        upstream.records.fail(.unclear(status: nil, "cut off"), afterApplying: true)
        try await send()
        upstream.set(Self.png + [4], at: "/photos/server-1/file")
        try await send(after: .seconds(60))
        #expect(try store.contentStatus(of: second, "photos")?.key == "server-1")
        #expect(try store.contentStatus(of: first, "photos")?.key == "server-2")
        #expect(upstream.uploads.map(\.bytes) == [Self.png, Self.png + [4], Self.png])
        #expect(try store.pendingCount().pending == 0)
    }

    @Test func `a record that may be either's is left to a person`() async throws {
        _ = try await create("x", Self.png)
        _ = try await create("x", Self.png + [4])
        upstream.records.fail(.unclear(status: nil, "cut off"))
        upstream.records.fail(.unclear(status: nil, "cut off"), afterApplying: true)
        try await send()
        upstream.set(Self.png + [5], at: "/photos/server-1/file")
        try await send(after: .seconds(60))
        #expect(upstream.uploads.count == 2)
        #expect(try store.pendingCount().failed == 2)
    }

    @Test(arguments: [[], [5]] as [[UInt8]])
    func `a record with the same kind is the created one only with the same content`(_ added: [UInt8]) async throws {
        let key = try await store.create("photos", body: .object(["kind": "before"]), at: time.timestamp)
        try await put(Self.png, on: key)
        upstream.records.fail(.unclear(status: nil, "cut off"))
        try await send()
        try upstream.records.set("/photos", #"[{"id":"a","kind":"after"},{"id":"b","kind":"before"}]"#)
        upstream.set(Self.png + added, at: "/photos/b/file")
        try await send(after: .seconds(60))
        #expect(upstream.uploads.count == 1)
        #expect(try store.pendingCount() == PendingCount(pending: 0, failed: added.isEmpty ? 0 : 1))
        #expect(try store.contentStatus(of: key, "photos")?.key == (added.isEmpty ? "b" : key))
    }

    @Test func `a refused creation fails with its content, and is sent again when that is replaced`() async throws {
        let key = try await create("x", Self.png)
        upstream.records.fail(.refused(status: 415, "no such pictures"))
        try await send()
        #expect(try store.pendingCount().failed == 1)
        try await put(Self.png + [4], on: key)
        try await send()
        #expect(upstream.uploads.map(\.bytes) == [Self.png, Self.png + [4]])
        #expect(Set(upstream.uploads.map(\.key)).count == 2)
        #expect(try store.pendingCount() == PendingCount(pending: 0, failed: 0))
    }

    @Test func `an edit that was made while the content was sent goes out after it`() async throws {
        try upstream.records.set("/notes", "[]")
        let engine = SyncEngine(
            store: store, contents: contents, upstream: upstream, settings: SyncSettings(writeDelay: .zero),
            time: SyncTime(clock: UnhurriedClock(), now: { [time] in time.timestamp }), random: { 0.5 }, log: .silent)
        upstream.hold()
        let running = Task { try await engine.run() }
        defer {
            upstream.release()
            running.cancel()
        }
        let key = try await create("x", Self.png)
        engine.noteLocalWrite()
        try await store.until {
            try store.pending(PendingQuery(limit: 1)).changes.first?["state"] == "uploading"
        }
        try await store.update("photos", key: key, body: .object(["caption": "y"]), at: time.timestamp)
        engine.noteLocalWrite()
        // The engine finds that the edit has to wait.
        for _ in 1...1000 { await Task.yield() }
        upstream.release()
        try await store.until { try store.pendingCount().pending == 0 }
        #expect(upstream.records.pushes.map(\.request.path) == ["/photos", "/photos/server-1"])
    }
}

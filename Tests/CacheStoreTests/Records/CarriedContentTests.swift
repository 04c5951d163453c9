import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// Creations that are sent together with the content of their record.
struct CarriedContentTests {
    private static let home = """
        schema: home
        upstream: { base_url: http://localhost }
        entities:
          photos:
            conflict: local_wins
            fields:
              id: { type: string }
              caption: { type: string }
              upload_status: { type: string }
            content: { path: "/photos/{id}/file", state: upload_status }
            pull: { path: /photos }
            push:
              create: { call: POST /photos, file: file }
              update: { call: "PATCH /photos/{id}" }
              delete: { call: "DELETE /photos/{id}" }
          notes:
            fields:
              id: { type: string }
              photo_id: { type: reference, to: photos }
            pull: { path: /notes }
            push: { create: { call: POST /notes } }
        """

    private let cache: TestCache
    private var store: CacheStore { cache.store }
    private let one = Content(sha256: String(repeating: "1", count: 64), size: 100, type: "image/png")
    private let other = Content(sha256: String(repeating: "2", count: 64), size: 50, type: "image/jpeg")
    private let refusal = PushFailure(.refused, status: 422, message: "no")

    init() throws { cache = try TestCache(schema: Self.home) }

    private func set(_ content: Content?, of key: String) async throws {
        try await store.write(at: TestCache.now) { try $0.setContent("photos", key: key, content) }
    }

    private func create(_ body: String = #"{"caption":"x"}"#) async throws -> String {
        try await store.create("photos", body: JSONText(parsing: body), at: TestCache.now)
    }

    private func ready(_ lane: PushLane = .content) throws -> [OutboxChange] {
        try store.readyChanges(limit: 9, at: TestCache.now, in: lane)
    }

    private func pending() throws -> [JSONText] { try store.pending(PendingQuery()).changes }

    /// Sends the only change that is ready in the content lane.
    private func finish(_ outcome: PushOutcome) async throws {
        let change = try #require(try ready().first)
        #expect(try await store.begin(change, at: TestCache.now))
        try await store.finish(change.id, outcome, at: TestCache.now)
    }

    private func expectSound() throws {
        let found = try store.inconsistencies()
        #expect(found.isEmpty, "\(found)")
    }

    // MARK: Waiting for content

    @Test func `a creation waits for its content, and says so`() async throws {
        let key = try await create()
        #expect(try ready(.fields).isEmpty && ready().isEmpty)
        let change = try #require(try pending().first)
        #expect(change["state"] == "blocked" && change["operation"] == "create")
        #expect(change.at(path: "error.class") == "content" && change["request"] == .null)
        #expect(change.at(path: "error.message")?.string?.contains("PUT it to /v1/photos/\(key)/content") == true)
        let blocked = PendingQuery(
            filters: [FilterComparison(parameter: "state", path: ["state"], operation: .equal, values: ["blocked"])])
        #expect(try store.pending(blocked).changes.count == 1)
        try await set(one, of: key)
        let free = try #require(try pending().first)
        #expect(free["state"] == "queued" && free["error"] == .null && free["operation"] == "create")
        #expect(free.at(path: "request.body.file.sha256")?.string == one.sha256)
        try expectSound()
    }

    @Test func `the content goes into the queued creation, in the lane of contents`() async throws {
        let key = try await create()
        try await set(one, of: key)
        #expect(try store.pendingCount().pending == 1)
        #expect(try ready(.fields).isEmpty)
        let change = try #require(try ready().first)
        #expect(change.operation == .create && change.content == .upload(one))
        let photos = try #require(store.schema["photos"])
        let request = try #require(change.request(of: photos))
        #expect(request.method == "POST" && request.path == "/photos" && request.content == one)
        #expect(request.file?.part == "file")
        #expect(try cache.record("photos", key)?["upload_status"] == "queued")
        #expect(try store.contentStatus(of: key, "photos")?.here == one)
    }

    @Test func `what refers to the record waits for it, and names it while the content is missing`() async throws {
        let key = try await create()
        let body = try JSONText(parsing: #"{"photo_id":"\#(key)"}"#)
        _ = try await store.create("notes", body: body, at: TestCache.now)
        let both = try pending()
        #expect(both[1]["state"] == "blocked" && both[1]["blocked_by"] == both[0]["id"])
        #expect(try store.measures().queue["blocked"] == 2)
        try await set(one, of: key)
        #expect(try pending().map { $0["state"] } == ["queued", "queued"])
        #expect(try store.measures().queue["queued"] == 2)
        #expect(try ready(.fields).isEmpty)
        try await finish(.acknowledged(record: try JSONText(parsing: #"{"id":"p1","caption":"x"}"#)))
        #expect(try ready(.fields).map { $0.body["photo_id"]?.plain } == ["p1"])
    }

    @Test func `an edit before the first attempt joins the creation`() async throws {
        let key = try await create()
        try await set(one, of: key)
        let read = try #require(try ready().first)
        try await store.update("photos", key: key, body: JSONText(parsing: #"{"caption":"y"}"#), at: TestCache.now)
        #expect(try store.pendingCount().pending == 1)
        #expect(try await !store.begin(read, at: TestCache.now))
        #expect(try ready().first?.body["caption"] == "y")
    }

    // MARK: Replacing it

    @Test func `content can be replaced until the first attempt`() async throws {
        let key = try await create()
        try await set(one, of: key)
        let read = try #require(try ready().first)
        try await set(other, of: key)
        #expect(try await !store.begin(read, at: TestCache.now))
        #expect(try ready().map(\.content) == [.upload(other)])
        #expect(try await store.forgetUnusedContent(retire: { _ in }) == one.sha256)
        try expectSound()
        let change = try #require(try ready().first)
        #expect(try await store.begin(change, at: TestCache.now))
        await #expect(throws: CacheError.self) { try await set(one, of: key) }
        try await set(other, of: key)
        let lost = PushFailure(.timeout, message: "no answer")
        try await store.finish(change.id, .waiting(lost, at: TestCache.now, counted: true), at: TestCache.now)
        await #expect(throws: CacheError.self) { try await set(one, of: key) }
        #expect(try ready().map(\.idempotencyKey) == [change.idempotencyKey])
    }

    @Test func `the same content again is no reason to send a waiting creation earlier`() async throws {
        let key = try await create()
        try await set(one, of: key)
        let lost = PushFailure(.timeout, message: "no answer")
        try await finish(.waiting(lost, at: TestCache.now + .seconds(60), counted: true))
        try await set(one, of: key)
        #expect(try ready().isEmpty)
    }

    @Test func `an existing record keeps its content if only creations carry one`() async throws {
        _ = try await cache.pull("photos", #"[{"id":"a"}]"#)
        await #expect {
            try await set(one, of: "a")
        } throws: {
            "\($0)".contains("only with a new record")
        }
        #expect(try store.pendingCount().pending == 0)
        try expectSound()
    }

    // MARK: Outcomes

    @Test func `an acknowledged creation keeps its content as the record's copy`() async throws {
        let key = try await create()
        try await set(one, of: key)
        try await finish(.acknowledged(record: try JSONText(parsing: #"{"id":"p1","caption":"x"}"#)))
        #expect(try store.pendingCount().pending == 0)
        let status = try #require(try store.contentStatus(of: key, "photos"))
        #expect(status.key == "p1" && status.here == one && !status.isQueued && !status.isOutdated)
        #expect(try cache.record("photos", "p1")?["upload_status"] == "uploaded")
        try expectSound()
    }

    @Test func `a refused creation is corrected and retried with its content`() async throws {
        let key = try await create()
        try await set(one, of: key)
        let first = try #require(try ready().first)
        try await finish(.failed(refusal))
        #expect(try cache.record("photos", key)?["upload_status"] == "failed")
        try await store.correct(first.id, setting: JSONText(parsing: #"{"caption":"y"}"#), at: TestCache.now)
        let second = try #require(try ready().first)
        #expect(second.content == .upload(one) && second.body["caption"] == "y")
        #expect(second.idempotencyKey != first.idempotencyKey)
        try await finish(.failed(refusal))
        try await set(other, of: key)
        let third = try #require(try ready().first)
        #expect(third.id == first.id && third.content == .upload(other))
        #expect(third.idempotencyKey != second.idempotencyKey && third.tried == 0)
        try expectSound()
    }

    @Test func `the same content again retries a creation that failed without an answer`() async throws {
        let key = try await create()
        try await set(one, of: key)
        let first = try #require(try ready().first)
        try await finish(.failed(PushFailure(.timeout, message: "no answer")))
        await #expect(throws: CacheError.self) { try await set(other, of: key) }
        try await set(one, of: key)
        #expect(try ready().map(\.idempotencyKey) == [first.idempotencyKey])
    }

    @Test func `discarding the creation discards the record and its content`() async throws {
        let key = try await create()
        try await set(one, of: key)
        let id = try #require(try ready().first?.id)
        try await store.discard(id, cascade: false, at: TestCache.now)
        #expect(try cache.record("photos", key) == nil)
        #expect(try await store.forgetUnusedContent(retire: { _ in }) == one.sha256)
        let lacking = try await create()
        try await store.delete("photos", key: lacking, at: TestCache.now)
        #expect(try store.pendingCount().pending == 0)
        try expectSound()
    }

    @Test func `a record that the server has deleted is created again with its content`() async throws {
        _ = try await cache.pull("photos", #"[{"id":"a","caption":"x"}]"#)
        try await store.keep(one, of: "a", "photos", from: "/photos/a/file", at: TestCache.now) {}
        try await store.update("photos", key: "a", body: JSONText(parsing: #"{"caption":"y"}"#), at: TestCache.now)
        let edit = try #require(try ready(.fields).first)
        #expect(try await store.begin(edit, at: TestCache.now))
        try await store.finish(edit.id, .gone(PushFailure(.gone, message: "no such record")), at: TestCache.now)
        #expect(try ready(.fields).isEmpty)
        #expect(try ready().map(\.operation) == [.create])
        #expect(try ready().map(\.content) == [.upload(one)])
        try expectSound()
    }

    @Test func `content queued on its own under an older schema goes into the creation`() async throws {
        let older = Self.home.replacing("POST /photos, file: file", with: "POST /photos")
            .replacing("content: { path", with: #"content: { upload: { call: "PUT /photos/{id}/file" }, path"#)
        let old = try TestCache(schema: older)
        let key = try await old.store.create("photos", body: JSONText(parsing: #"{"caption":"x"}"#), at: TestCache.now)
        try await old.store.write(at: TestCache.now) { try $0.setContent("photos", key: key, one) }
        #expect(try old.store.pendingCount().pending == 2)
        let new = try old.reopened(schema: Self.home).store
        #expect(try new.readyChanges(limit: 9, at: TestCache.now, in: .content).isEmpty)
        try await new.write(at: TestCache.now) { try $0.setContent("photos", key: key, one) }
        let ready = try new.readyChanges(limit: 9, at: TestCache.now, in: .content)
        #expect(ready.map(\.operation) == [.create] && ready.map(\.content) == [.upload(one)])
        #expect(try new.pendingCount().pending == 1)
        #expect(try new.inconsistencies().isEmpty)
    }

    @Test func `a creation with content fails under a schema that cannot send it`() async throws {
        let key = try await create()
        try await set(one, of: key)
        let schema = Self.home.replacing("POST /photos, file: file", with: "POST /photos")
        let store = try cache.reopened(schema: schema).store
        let change = try #require(try store.readyChanges(limit: 9, at: TestCache.now, in: .content).first)
        let photos = try #require(store.schema["photos"])
        #expect(change.request(of: photos) == nil)
    }

    @Test func `the content of a creation travels with the exported queue`() async throws {
        let key = try await create()
        try await set(one, of: key)
        _ = try await create(#"{"caption":"without"}"#)
        let copy = try TestCache(schema: Self.home)
        let queue = try ExportedQueue(text: ExportedQueue(ofDatabaseAt: cache.path).text())
        #expect(try await copy.store.take(queue, at: TestCache.now).added == 2)
        let changes = try copy.store.readyChanges(limit: 9, at: TestCache.now, in: .content)
        #expect(changes.map(\.content) == [.upload(one)])
        #expect(try await copy.store.forgetUnusedContent(retire: { _ in }) == nil)
        #expect(try copy.store.inconsistencies().isEmpty)
    }
}

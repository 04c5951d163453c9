import CacheStore
import ContentStore
import EntitySchema
import Foundation
import JSONText
import Logging
import Pictures
import SocketServer
import SyncEngine
import Synchronization
import TestSupport
import Testing

@testable import LocalAPIServer

struct ContentTests {
    private let folder: TemporaryFolder
    private let store: CacheStore
    private let api: LocalAPIServer
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array(0..<92)

    init() async throws {
        let schema = try EntitySchema(
            yaml: """
                schema: home
                upstream: { base_url: http://localhost }
                entities:
                  photos:
                    fields: { id: { type: string }, url: { type: string } }
                    content: { url: url, upload: { call: "PUT /photos/{id}/content" }, max_size: 100B,
                               delete: { call: "DELETE /photos/{id}/content" } }
                    pull: { path: /photos }
                  scans:
                    fields: { id: { type: string }, url: { type: string } }
                    content: { url: url }
                    pull: { path: /scans }
                  faxes:
                    fields: { id: { type: string }, url: { type: string } }
                    content: { url: url, max_size: 1KiB }
                    pull: { path: /faxes }
                    push: { create: { call: POST /faxes, file: page } }
                """, file: "home.yaml")
        folder = try TemporaryFolder()
        store = try CacheStore.temporary(schema, in: folder)
        let engine = SyncEngine(
            store: store, contents: try ContentFolder(path: folder.path("content")), upstream: AbsentUpstream(),
            time: SyncTime(clock: ContinuousClock(), now: { TestAPI.now }), random: { 0.5 }, log: Logger(label: "test"))
        api = LocalAPIServer(
            store: store, engine: engine, callers: CallerGuard(token: TestAPI.token, owners: [1000], group: nil),
            about: DaemonDescription(version: "1", startedAt: TestAPI.now),
            runtime: APIRuntime(now: { TestAPI.now }, log: Logger(label: "test")))
        _ = try await store.apply(PulledPage(entity: "photos", records: #"[{"id":"a"},{"id":"b"}]"#), at: TestAPI.now)
        _ = try await store.apply(PulledPage(entity: "scans", records: #"[{"id":"s"}]"#), at: TestAPI.now)
    }

    @Test func `content goes into a creation that carries it, and not into an existing record`() async throws {
        _ = try await store.apply(PulledPage(entity: "faxes", records: #"[{"id":"f"}]"#), at: TestAPI.now)
        let old = try await call("PUT", "/v1/faxes/f/content", body: [Self.png], ["Content-Type": "image/png"])
        #expect(old.status == 409)
        #expect(old.json["detail"]?.string?.contains("only with a new record") == true, "\(old.json.text)")
        let new = try await store.create("faxes", body: .object([:]), at: TestAPI.now)
        let put = try await call("PUT", "/v1/faxes/\(new)/content", body: [Self.png], ["Content-Type": "image/png"])
        #expect(put.status == 200)
        let pending = try await call("GET", "/v1/pending").json.at(path: "data")?.elements
        #expect(pending?.map { $0["state"] } == ["queued"])
        #expect(pending?.first?.at(path: "request.body.page.filename")?.string == "\(new).png")
        #expect(try await call("GET", "/v1/schema/faxes").json.at(path: "content.create") == true)
        #expect(try await call("DELETE", "/v1/faxes/\(new)/content").status == 405)
    }

    @Test func `only so many contents are uploaded at once: the next gets 503`() async throws {
        let uploader = Request(method: "PUT", path: "/", caller: Caller(user: 0, access: .owner))
        var places = (1...64).compactMap { _ in api.handlers.places.uploads.take(for: uploader) }
        #expect(places.count == 64)
        let headers = ["Content-Type": "image/png"]
        #expect(try await call("PUT", "/v1/photos/a/content", body: [Self.png], headers).status == 503)
        places = []
        #expect(try await call("PUT", "/v1/photos/a/content", body: [Self.png], headers).status == 200)
        #expect(api.handlers.places.uploads.openCount == 0)
    }

    private struct Answer {
        var status: Int
        var headers: [(name: String, value: String)]
        var body: [UInt8]

        func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
        var json: JSONText { (try? JSONText(body)) ?? .null }
    }

    private func call(
        _ method: String, _ target: String, body: [[UInt8]]? = nil, _ headers: [String: String] = [:],
        atEnd: @escaping @Sendable () async throws -> Void = {}
    ) async throws -> Answer {
        var fields = Headers()
        for (name, value) in ["Host": "localhost", "Authorization": "Bearer \(TestAPI.token)"].merging(
            headers, uniquingKeysWith: { $1 })
        {
            fields.append(name: name, value: value)
        }
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        var request = Request(method: method, path: parts[0], query: parts.count > 1 ? parts[1] : nil, headers: fields)
        if let body {
            let rest = Mutex(body[...])
            request.stream = {
                if rest.withLock(\.isEmpty) { try await atEnd() }
                return rest.withLock { $0.popFirst() }
            }
        }
        let response = await api.respond(to: request)
        var bytes: [UInt8] = []
        switch response.body {
        case .bytes(let all): bytes = all
        case .pieces(let length, let piece): while bytes.count < length { bytes += try piece(bytes.count) }
        case .stream: break
        }
        return Answer(status: response.status, headers: response.allHeaders, body: bytes)
    }

    private func put(_ bytes: [[UInt8]] = [png], type: String = "image/png", on key: String = "a") async throws
        -> Answer
    {
        try await call("PUT", "/v1/photos/\(key)/content", body: bytes, ["Content-Type": type])
    }

    @Test func `an upload whose session ends on the way is not kept`() async throws {
        let body = JSONText.object(["token": .string(TestAPI.token)])
        var begin = Request(
            method: "POST", path: "/v1/_session", query: nil, headers: Headers(), body: Array(body.bytes))
        begin.headers.append(name: "Host", value: "localhost")
        begin.headers.append(name: "Content-Type", value: "application/json")
        let fields = await api.respond(to: begin).headers
        let cookie = String(try #require(fields.first { $0.name == "Set-Cookie" }).value.prefix { $0 != ";" })
        let page = [
            "Authorization": "none", "Origin": "http://localhost", "X-Repairminder-Page": "1", "Cookie": cookie,
        ]
        func put(_ end: @escaping @Sendable () async throws -> Void) async throws -> Int {
            try await call(
                "PUT", "/v1/photos/a/content", body: [Self.png],
                page.merging(["Content-Type": "image/png"]) { $1 }, atEnd: end
            ).status
        }
        #expect(try await put {} == 200)
        _ = try await call("DELETE", "/v1/photos/a/content")
        #expect(try await put { _ = try await call("DELETE", "/v1/_session", page) } == 401)
        #expect(try await call("GET", "/v1/photos/a/content").status == 404)
    }

    @Test func `stores a picture and shows it at once`() async throws {
        let put = try await put([Array(Self.png[..<10]), Array(Self.png[10...])])
        #expect(put.status == 200)
        #expect(put.json.at(path: "_sync.state") == "pending")
        let shown = try await call("GET", "/v1/photos/a/content")
        #expect(shown.status == 200)
        #expect(shown.body == Self.png)
        #expect(shown.header("Content-Type") == "image/png")
        #expect(shown.header("X-Content-Type-Options") == "nosniff")
        let known = try await call("GET", "/v1/photos/a/content", ["If-None-Match": try #require(shown.header("ETag"))])
        #expect(known.status == 304)
        #expect(known.body.isEmpty)
    }

    @Test(arguments: [
        ("bytes=0-9", 0..<10), ("bytes=90-", 90..<100), ("bytes=-5", 95..<100), ("bytes=50-500", 50..<100),
        ("bytes=-500", 0..<100),
    ])
    func `answers the requested range`(_ field: String, _ range: Range<Int>) async throws {
        _ = try await put()
        let part = try await call("GET", "/v1/photos/a/content", ["Range": field])
        #expect(part.status == 206)
        #expect(part.body == Array(Self.png[range]))
        #expect(part.header("Content-Range") == "bytes \(range.lowerBound)-\(range.upperBound - 1)/100")
    }

    @Test(arguments: ["bytes=1-0", "bytes=a-b", "bytes=0-1,3-4", "lines=0-1", "bytes=-", "bytes=0-9, "])
    func `answers the whole content for a malformed range`(_ field: String) async throws {
        _ = try await put()
        #expect(try await call("GET", "/v1/photos/a/content", ["Range": field]).status == 200)
    }

    @Test(arguments: ["bytes=100-", "bytes=500-600", "bytes=-0"])
    func `refuses a range beyond the end`(_ field: String) async throws {
        _ = try await put()
        let answer = try await call("GET", "/v1/photos/a/content", ["Range": field])
        #expect(answer.status == 416)
        #expect(answer.header("Content-Range") == "bytes */100")
    }

    @Test func `answers the whole content for a range of another version`() async throws {
        _ = try await put()
        let answer = try await call("GET", "/v1/photos/a/content", ["Range": "bytes=0-1", "If-Range": "\"other\""])
        #expect(answer.status == 200)
    }

    @Test func `refuses content that is not allowed`() async throws {
        #expect(try await put([Self.png + [1]]).status == 413)
        #expect(try await put([Array("<html>".utf8)]).status == 415)
        #expect(try await put([Array("text".utf8)], type: "text/plain").status == 415)
        #expect(try await put([]).status == 400)
        #expect(try await put(on: "none").status == 404)
        #expect(try await call("GET", "/v1/photos/a/content").status == 404)
        #expect(try store.pendingCount().pending == 0)
    }

    @Test func `keeps the type that the bytes show`() async throws {
        #expect(try await put(type: "application/octet-stream").status == 200)
        #expect(try await call("GET", "/v1/photos/a/content").header("Content-Type") == "image/png")
    }

    @Test func `deletes content and keeps the record`() async throws {
        _ = try await put()
        #expect(try await call("DELETE", "/v1/photos/a/content").status == 204)
        #expect(try await call("GET", "/v1/photos/a/content").status == 404)
        #expect(try await call("GET", "/v1/photos/a").status == 200)
    }

    @Test func `says of content that was deleted here that it is not found, not that it may come`() async throws {
        let photo = #"[{"id":"p","url":"/photos/p.png"}]"#
        _ = try await store.apply(PulledPage(entity: "photos", records: photo), at: TestAPI.now)
        #expect(try await call("DELETE", "/v1/photos/p/content").status == 204)
        let answer = try await call("GET", "/v1/photos/p/content")
        #expect(answer.status == 404 && answer.json["code"] == "not_found")
        #expect(answer.header("Retry-After") == nil)
    }

    @Test func `is read-only without an upload in the schema`() async throws {
        let answer = try await call("PUT", "/v1/scans/s/content", body: [Self.png])
        #expect(answer.status == 405)
        #expect(answer.header("Allow") == "GET, HEAD, OPTIONS")
        #expect(api.streamLimit("PUT", "/v1/scans/s/content") == nil)
        #expect(api.streamLimit("PUT", "/v1/photos/s/content") == 100)
        #expect(api.streamLimit("POST", "/v1/photos/s/content") == nil)
    }

    @Test func `describes the calls of content`() async throws {
        let document = try await call("GET", "/openapi.json").json
        #expect(document.at(path: "paths")?["/v1/photos/{id}/content"]?["put"]?["requestBody"] != nil)
        #expect(document.at(path: "paths")?["/v1/scans/{id}/content"]?["put"] == nil)
    }

    @Test func `accepts only known thumbnail sizes`() async throws {
        _ = try await put()
        #expect(try await call("GET", "/v1/photos/a/thumbnail?size=100").status == 400)
        #expect(try await call("GET", "/v1/photos/b/thumbnail").status == 404)
    }
}

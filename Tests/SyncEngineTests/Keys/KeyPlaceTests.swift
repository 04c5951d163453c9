import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore
@testable import SyncEngine
@testable import Upstream

/// Upstreams whose records have their key in another place: all that follows the reading of a record finds it at `id`.
@Suite("A key in another place of the record", .timeLimit(.minutes(10)))
struct KeyPlaceTests {
    enum Shape: CaseIterable, Sendable {
        /// `sys.id`, in whole numbers of a version beside it.
        case contentful
        /// `$id.value`; a creation is answered with the bare key.
        case kintone
        /// `url`.
        case freeagent

        var key: String {
            switch self {
            case .contentful: "{ field: id, from: sys.id }"
            case .kintone: "{ field: id, from: $id.value }"
            case .freeagent: "{ field: id, from: { link: url } }"
            }
        }

        func served(_ key: String, _ fields: JSONText) -> JSONText {
            let member: (key: String, value: JSONText) =
                switch self {
                case .contentful: ("sys", .object(["id": .string(key), "version": 1]))
                case .kintone: ("$id", .object(["type": "__ID__", "value": .string(key)]))
                case .freeagent: ("url", .string("https://api.example/v2/things/\(key)"))
                }
            return fields.setting(member.key, to: member.value)
        }

        var schema: String {
            """
            schema: shop
            upstream: { base_url: "http://shop" }
            entities:
              things:
                key: \(key)
                fields: { id: { type: string }, title: { type: string } }
                pull: { path: /things }
                push:
                  create: { call: POST /things\(self == .kintone ? ", record: id" : "") }
                  update: { call: "PATCH /things/{id}" }
                  delete: { call: "DELETE /things/{id}" }
            """
        }

        func server() -> ShapedServer {
            ShapedServer(["1": .object(["title": "A"]), "2": .object(["title": "B"]), "3": .object(["title": "C"])]) {
                call, records in
                switch call.method {
                case "POST":
                    records["9"] = call.body
                    return (201, self == .kintone ? .object(["id": "9", "revision": "1"]) : served("9", call.body))
                case "GET" where call.path == "/things": return (200, records.served(served))
                case "DELETE":
                    records[call.key] = nil
                    return (200, .object([:]))
                default:
                    guard let known = records[call.key] else { return (404, .object([:])) }
                    let record = call.method == "PATCH" ? known.setting(call.body) : known
                    records[call.key] = record
                    return (200, served(call.key, record))
                }
            }
        }
    }

    private func test(_ shape: Shape, _ server: ShapedServer, store: CacheStore? = nil) throws -> TestEngine {
        let plan = try EntitySchema(yaml: shape.schema, file: "shop.yaml").upstream
        let upstream = HTTPUpstream(plan: plan, transport: server)
        return try TestEngine(remote: upstream, store: store, schema: shape.schema)
    }

    private func isSent(_ test: TestEngine) throws -> Bool { try test.store.pendingCount().pending == 0 }

    @Test("is at the front of the record, and a pull of the same list writes nothing", arguments: Shape.allCases)
    func pulled(_ shape: Shape) async throws {
        let server = shape.server()
        let test = try test(shape, server)
        try await test.running {
            try await test.engine.sync(SyncRequest(full: true))
            let row = try #require(try test.store.remote(of: "things", key: "1"))
            #expect(row == JSONText.object(["id": "1"]).setting(shape.served("1", .object(["title": "A"]))))
            #expect(try test.record("1", "things")?["title"] == "A")
            let position = try test.store.position()
            try await test.engine.sync(SyncRequest(full: true))
            #expect(try test.store.position() == position)
        }
        let again = try self.test(shape, server, store: test.store)
        try await again.running {
            try await again.engine.sync(SyncRequest(full: true))
            #expect(try again.store.rowCounts()["things"] == 3)
        }
    }

    @Test("of a record that is created here comes with the answer, and is never sent", arguments: Shape.allCases)
    func created(_ shape: Shape) async throws {
        let server = shape.server()
        let test = try test(shape, server)
        let own = try await test.store.create("things", body: .object(["title": "D"]), at: test.clock.timestamp)
        #expect(try test.record(own, "things")?["id"] == .string(own))
        try await test.running {
            try await test.engine.sync(SyncRequest(full: true))
            try await test.until { try isSent(test) }
            try await test.engine.sync(SyncRequest(full: true))
        }
        #expect(server.changes.map { "\($0.method) \($0.path) \($0.body.text)" } == [#"POST /things {"title":"D"}"#])
        #expect(try test.record("9", "things")?["id"] == "9")
        #expect(try test.record("9", "things")?["title"] == "D")
        #expect(try test.store.remote(of: "things", key: own)?["id"] == "9")
        #expect(try test.store.rowCounts()["things"] == 4)
    }

    @Test("names the record in edits and deletions, and is no part of them", arguments: Shape.allCases)
    func changed(_ shape: Shape) async throws {
        let server = shape.server()
        let test = try test(shape, server)
        try await test.running {
            try await test.engine.sync(SyncRequest(full: true))
            try await test.store.update("things", key: "1", body: .object(["title": "X"]), at: test.clock.timestamp)
            try await test.store.delete("things", key: "2", at: test.clock.timestamp)
            try await test.until { try isSent(test) }
            try await test.engine.sync(SyncRequest(full: true))
        }
        let sent = Set(server.changes.map { "\($0.method) \($0.path) \($0.body.text)" })
        #expect(sent == [#"PATCH /things/1 {"title":"X"}"#, "DELETE /things/2 null"])
        #expect(try test.record("1", "things")?["title"] == "X" && test.record("2", "things") == nil)
        #expect(try test.store.remote(of: "things", key: "1")?["id"] == "1")
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
    }

    @Test("shows which record has left the list", arguments: Shape.allCases)
    func absent(_ shape: Shape) async throws {
        let server = shape.server()
        let test = try test(shape, server)
        try await test.running {
            try await test.engine.sync(SyncRequest(full: true))
            server.remove("2")
            try await test.engine.sync(SyncRequest(full: true))
            try await test.until(step: .seconds(60)) { try test.store.rowCounts()["things"] == 2 }
        }
        #expect(try test.record("1", "things") != nil && test.record("2", "things") == nil)
    }

    @Test("is no drift, nor is the place where it stands", arguments: Shape.allCases)
    func drift(_ shape: Shape) async throws {
        let test = try test(shape, shape.server())
        try await test.running { try await test.engine.sync(SyncRequest(full: true)) }
        #expect(try test.store.drift().isEmpty)
    }
}

import EntitySchema
import Foundation
import JSONText
import Synchronization
import TestSupport
import Testing

@testable import CacheStore
@testable import SyncEngine
@testable import Upstream

/// A token that expires into the answers of a guest, who gets empty lists and 404, and no 401.
@Suite("A token that expires into nothing", .timeLimit(.minutes(10)))
struct GuestTests {
    /// One order a key, for callers with a token; guests see the public ones.
    private final class Server: HTTPTransport {
        struct State {
            var orders: [String: String] = [:]
            var token: String?
            var signIns = 0
            var applied: [String] = []
            var isPublic: Set<String> = []
        }

        let state = Mutex(State())

        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            state.withLock { Self.answer(request, &$0) }
        }

        private static func answer(_ request: HTTPRequest, _ state: inout State) -> HTTPResponse {
            let path = String(request.url.dropFirst("http://shop".count).prefix { $0 != "?" })
            let token = request.headers.first { $0.name == "Authorization" }?.value
            let isKnown = state.token.map { token == "Bearer \($0)" } ?? false
            if path == "/sign-in" {
                state.signIns += 1
                state.token = "t\(state.signIns)"
                return json(200, #"{"token":"t\#(state.signIns)"}"#)
            }
            if path == "/me" { return json(200, isKnown ? #"{"id":"u"}"# : #"{"id":null}"#) }
            let visible = state.orders.filter { isKnown || state.isPublic.contains($0.key) }
            guard path != "/orders" else {
                let rows = visible.sorted { $0.key < $1.key }.map { #"{"id":"\#($0.key)","notes":"\#($0.value)"}"# }
                return json(200, "[\(rows.joined(separator: ","))]")
            }
            let key = String(path.dropFirst("/orders/".count))
            guard visible[key] != nil else { return json(404, "{}") }
            switch request.method {
            case "DELETE": state.orders[key] = nil
            case "PATCH":
                let body = request.body.flatMap { try? JSONText($0) }
                state.orders[key] = body?["notes"]?.string ?? ""
            default: break
            }
            if request.method != "GET" { state.applied.append("\(request.method) \(key)") }
            return json(200, #"{"id":"\#(key)","notes":"\#(state.orders[key] ?? "")"}"#)
        }

        private static func json(_ status: Int, _ text: String) -> HTTPResponse {
            HTTPResponse(status: status, body: Array(text.utf8))
        }
    }

    private let folder: TemporaryFolder
    private let server = Server()
    private let test: TestEngine

    init() throws {
        folder = try TemporaryFolder()
        #expect(
            FileManager.default.createFile(
                atPath: folder.path("password"), contents: Data("p".utf8), attributes: [.posixPermissions: 0o600]))
        server.state.withLock { $0.orders = ["o1": "1", "o2": "2", "o3": "3", "o4": "4", "o5": "5", "o6": "6"] }
        let plan = try EntitySchema(yaml: Self.schema, file: "shop.yaml").upstream
        let access = UpstreamAccess(
            plan: plan, transport: server, secrets: SecretFiles(paths: ["password": folder.path("password")]),
            now: { .sample })
        let token = RotatingToken(access, store: TokenStore(path: folder.path("tokens.json")))
        test = try TestEngine(
            remote: HTTPUpstream(access, token: token), schema: Self.schema)
    }

    private func becomeGuest() { server.state.withLock { $0.token = nil } }

    private var isSent: Bool {
        get throws { try test.store.pendingCount().pending == 0 }
    }

    @Test("neither the cache nor an edit and a deletion that wait are lost")
    func nothingIsLost() async throws {
        try await test.running {
            try await test.engine.sync(SyncRequest(full: true))
            #expect(try test.store.rowCounts()["orders"] == 6)
            becomeGuest()
            try await test.change("o1", #"{"notes":"ours"}"#)
            try await test.store.delete("orders", key: "o2", at: test.clock.timestamp)
            try await test.engine.sync(SyncRequest(full: true))
            try await test.until { try isSent }
        }
        let (orders, applied, signIns) = server.state.withLock { ($0.orders, $0.applied, $0.signIns) }
        #expect(orders["o1"] == "ours" && orders["o2"] == nil && orders.count == 5)
        #expect(applied.sorted() == ["DELETE o2", "PATCH o1"])
        #expect(signIns == 2)
        #expect(try test.store.rowCounts()["orders"] == 5)
    }

    @Test("a list that shows only what is public shows nothing about what is gone")
    func publicRows() async throws {
        try await test.running {
            try await test.engine.sync(SyncRequest(full: true))
            for round in 1...2 {
                becomeGuest()
                server.state.withLock { $0.isPublic = ["o1", "o3", "o4", "o5", "o6"] }
                try? await test.engine.sync(SyncRequest(full: true))
                #expect(try test.store.rowCounts()["orders"] == 6, "round \(round)")
            }
            server.state.withLock { $0.orders["o2"] = nil }
            try await test.until(step: .seconds(60)) { try test.store.rowCounts()["orders"] == 5 }
        }
    }

    private static let schema = """
        schema: shop
        upstream:
          base_url: http://shop
          auth:
            session: { call: POST /sign-in, body: { password: "{$secret.password}" }, token: token }
            check: { call: GET /me, account: id }
        entities:
          orders:
            fields: { id: { type: string }, notes: { type: string } }
            pull: { path: /orders }
            push:
              update: { call: "PATCH /orders/{id}" }
              delete: { call: "DELETE /orders/{id}" }
        """
}

import CacheStore
import EntitySchema
import Foundation
import JSONText
import LocalAPIServer
import SocketServer
import TestSupport
import Testing
import Upstream

/// The local API over real sockets and a real cache, in a shop where everything can be sent; its upstream is unreachable.
struct ServedAPI {
    let api: TestAPI
    private let address: String
    private let transport: CurlTransport

    var store: CacheStore { api.store }

    /// Runs `body` while the API is served; the cache holds order `a`, ready, with notes.
    static func serving(conflict: String = "last_write_wins", _ body: (ServedAPI) async throws -> Void) async throws {
        let api = try TestAPI(yaml: shop.replacing("CONFLICT", with: conflict))
        let order = #"[{"id":"a","status":"ready","notes":"n","total":129.90,"passcode":"4711"}]"#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: order), at: TestAPI.now)
        let server = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: 0)]) { await api.api.respond(to: $0) }
        let address = try #require(try server.bind().first).description
        let running = Task { try await server.run() }
        defer { running.cancel() }
        try await body(ServedAPI(api: api, address: address, transport: try CurlTransport(userAgent: "test")))
    }

    struct Answer {
        var response: HTTPResponse

        var status: Int { response.status }
        var text: String { String(decoding: response.body, as: UTF8.self) }
        var json: JSONText { (try? JSONText(response.body)) ?? .null }
        var fields: [String?] { json["errors"]?.elements.map { $0["field"]?.string } ?? [] }

        func header(_ name: String) -> String? { response.header(name) }
    }

    /// A call with the token; a body is JSON unless `type` says otherwise.
    func call(
        _ method: String, _ target: String, _ body: String? = nil, key: String? = nil, type: String = "application/json"
    ) async throws -> Answer {
        var headers = [HTTPHeader("Authorization", "Bearer \(TestAPI.token)")]
        if body != nil { headers.append(HTTPHeader("Content-Type", type)) }
        if let key { headers.append(HTTPHeader("Idempotency-Key", key)) }
        return Answer(
            response: try await transport.send(
                HTTPRequest(
                    method: method, url: address + target, headers: headers, body: body.map { Array($0.utf8) },
                    deadline: .seconds(600))))
    }

    // MARK: The queue

    /// The queue as the API lists it.
    func queue() async throws -> [JSONText] { try await call("GET", "/v1/pending").json["data"]?.elements ?? [] }

    func change(_ id: Int) async throws -> JSONText { try await call("GET", "/v1/pending/\(id)").json }

    /// Ends an attempt of the oldest ready change with this outcome.
    func attempt(_ outcome: PushOutcome) async throws {
        let change = try #require(try store.readyChanges(limit: 1, at: TestAPI.now).first)
        try #require(try await store.begin(change, at: TestAPI.now))
        try await store.finish(change.id, outcome, at: TestAPI.now)
    }

    /// Leaves the oldest ready change in the middle of an attempt.
    func begin() async throws {
        let change = try #require(try store.readyChanges(limit: 1, at: TestAPI.now).first)
        try #require(try await store.begin(change, at: TestAPI.now))
    }

    static let refusal = PushOutcome.failed(PushFailure(.refused, status: 422, message: "no such thing"))

    private static let shop = """
        schema: shop
        upstream:
          base_url: http://localhost
          idempotency_header: Idempotency-Key
          version: { field: rev, header: X-Revision }
          pagination: { style: page }
        entities:
          clients:
            fields:
              id: { type: string }
              name: { type: string, required: true }
            many:
              orders: { of: orders, by: client_id }
            pull: { path: /clients }
            push: { create: { call: POST /clients } }
          orders:
            conflict: CONFLICT
            fields:
              id: { type: string }
              client_id: { type: reference, to: clients }
              status: { type: enum, index: true, values: { open: Open, ready: Ready } }
              notes: { type: string }
              total: { type: money }
              passcode: { type: string, secret: true }
              rev: { type: integer }
              updated_at: { type: time }
            many:
              messages: { of: messages, by: order_id }
            pull: { path: /orders, changed_at: updated_at }
            push:
              create: { call: POST /orders }
              update:
                - { call: "PATCH /orders/{id}", fields: [status, notes, passcode, client_id] }
                - { call: "PUT /orders/{id}/total", body: { amount: total } }
              delete: { call: "DELETE /orders/{id}" }
          messages:
            order_within: order_id
            fields:
              id: { type: string }
              order_id: { type: reference, to: orders, index: true, required: true }
              text: { type: string, required: true }
            pull: { path: /messages }
            push: { create: { call: "POST /orders/{order_id}/messages", body: { content: text } } }
        """
}

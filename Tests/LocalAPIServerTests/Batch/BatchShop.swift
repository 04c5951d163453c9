import CacheStore
import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

/// The API of a shop where everything can be sent, for tests of batches; its upstream is unreachable.
enum BatchShop {
    /// Its cache holds order `a`, ready, with notes, and order `b`.
    static func filled(clock: any Clock<Duration> = ContinuousClock()) async throws -> TestAPI {
        let api = try TestAPI(yaml: schema, clock: clock)
        let orders = #"[{"id":"a","status":"ready","notes":"n","total":129.90},{"id":"b","status":"open"}]"#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: orders), at: TestAPI.now)
        return api
    }

    static let schema = """
        schema: shop
        upstream: { base_url: http://localhost, pagination: { style: page } }
        entities:
          clients:
            fields:
              id: { type: string }
              name: { type: string, required: true }
            many:
              orders: { of: orders, by: client_id, on_delete: deny }
            pull: { path: /clients }
            push: { create: { call: POST /clients }, delete: { call: "DELETE /clients/{id}" } }
          shops:
            fields: { id: { type: integer }, name: { type: string } }
            pull: { path: /shops }
            push: { create: { call: POST /shops } }
          orders:
            fields:
              id: { type: string }
              shop_id: { type: reference, to: shops }
              client_id: { type: reference, to: clients }
              status: { type: enum, index: true, values: { open: Open, ready: Ready } }
              notes: { type: string, search: true }
              total: { type: money }
              extra: { type: object }
              passcode: { type: string, secret: true }
            many:
              messages: { of: messages, by: order_id, on_delete: cascade }
            pull: { path: /orders }
            push:
              create: { call: POST /orders }
              update: { call: "PATCH /orders/{id}" }
              delete: { call: "DELETE /orders/{id}" }
          messages:
            fields:
              id: { type: string }
              order_id: { type: reference, to: orders, index: true, required: true }
              text: { type: string, required: true }
            pull: { path: /messages }
            push: { create: { call: "POST /orders/{order_id}/messages" } }
        """
}

extension TestAPI {
    /// Sends a batch of these operations; `more`: other members of the body.
    func batch(
        _ operations: [String], more: String = "", query: String = "", headers: [String: String?] = [:]
    ) async -> Answer {
        await call(
            "POST", "/v1/_batch\(query)", body: #"{"operations":[\#(operations.joined(separator: ","))]\#(more)}"#,
            headers: headers)
    }

    func queue() throws -> [JSONText] { try store.pending(PendingQuery(limit: 1000)).changes }
}

extension TestAPI.Answer {
    var results: [JSONText] { json["results"]?.elements ?? [] }
    var statuses: [Int?] { results.map { $0["status"]?.integer } }
    var pointers: [String?] { (json["errors"]?.elements ?? []).map { $0["pointer"]?.string } }
}

extension JSONText {
    /// The pointers of the errors in a result's problem.
    var pointers: [String?] { (self["problem"]?["errors"]?.elements ?? []).map { $0["pointer"]?.string } }
}

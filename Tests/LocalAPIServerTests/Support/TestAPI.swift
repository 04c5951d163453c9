import CacheStore
import EntitySchema
import Foundation
import JSONText
import LocalAPIServer
import Logging
import SocketServer
import SyncEngine
import TestSupport
import Testing
import Upstream

/// The local API over a real cache, called without a socket; its upstream is unreachable.
struct TestAPI {
    static let token = "0123456789abcdef"
    static let now = Timestamp.sample

    let store: CacheStore
    let api: LocalAPIServer

    /// `yaml`: another schema than the shop. `deletes`: orders have content, and both can be deleted. `field`: an extra field
    /// of orders.
    init(
        conflict: String = "last_write_wins", clockOffset: Duration? = nil, yaml: String? = nil, field: String? = nil,
        upstream: any Upstream = AbsentUpstream(), clock: any Clock<Duration> = ContinuousClock(),
        places: Int = 64, deletes: Bool = false, doctor: @escaping Doctor = { _ in [] },
        log: Logger = Logger(label: "test")
    ) throws {
        let update = #"update: { call: "PATCH /orders/{id}" }"#
        let content =
            #"content: { upload: { call: "PUT /orders/{id}/scan" }, delete: { call: "DELETE /orders/{id}/scan" } }"#
        let delete = deletes ? "\n      delete: { call: \"DELETE /orders/{id}\" }" : ""
        let shop = Self.shop.replacing(
            "  orders:\n", with: "  orders:\n    conflict: \(conflict)\n\(deletes ? "    \(content)\n" : "")"
        )
        .replacing(update, with: update + delete)
        .replacing("total: { type: money }", with: "total: { type: money }\(field.map { "\n      \($0)" } ?? "")")
        let schema = try EntitySchema(yaml: yaml ?? shop, file: "shop.yaml")
        try self.init(
            store: CacheStore.temporary(schema), clockOffset: clockOffset, upstream: upstream, clock: clock,
            places: places, doctor: doctor, log: log)
    }

    /// The API over a cache that exists already. `uptime` says how long reading takes.
    init(
        store: CacheStore, now: Timestamp = TestAPI.now, clockOffset: Duration? = nil,
        upstream: any Upstream = AbsentUpstream(), clock: any Clock<Duration> = ContinuousClock(),
        places: Int = 64, doctor: @escaping Doctor = { _ in [] }, standby: StandbyPart? = nil,
        uptime: @escaping @Sendable () -> Duration = { .zero }, log: Logger = Logger(label: "test")
    ) throws {
        self.store = store
        let engine = SyncEngine(
            store: store, upstream: upstream,
            time: SyncTime(clock: ContinuousClock(), now: { now }, serverOffset: { clockOffset }), random: { 0.5 },
            log: Logger(label: "test"))
        api = LocalAPIServer(
            store: store, engine: engine, callers: CallerGuard(token: Self.token, owners: [1000], group: nil),
            about: DaemonDescription(
                version: "1", startedAt: now - .seconds(5), instance: "till-2", site: "north", schemaHash: "0a1b",
                command: { "repairminder-sync \($0) --config till-2.yaml" }),
            parts: DaemonParts(standby: standby, doctor: doctor),
            runtime: APIRuntime(
                now: { now }, clock: clock, metrics: Metrics(uptime: uptime), places: Places(ofEach: places), log: log))
    }

    /// An API whose cache holds order `a`, ready, of 129.90, and order `b`.
    static func filled(
        conflict: String = "last_write_wins", clockOffset: Duration? = nil, yaml: String? = nil,
        upstream: any Upstream = AbsentUpstream()
    ) async throws -> TestAPI {
        let api = try TestAPI(conflict: conflict, clockOffset: clockOffset, yaml: yaml, upstream: upstream)
        let records =
            #"[{"id":"a","status":"ready","total":129.90,"created_at":"2026-01-02"},{"id":"b","status":"open"}]"#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: records), at: now)
        return api
    }

    /// A call with the token; `headers` replace the usual ones of the same name.
    func call(
        _ method: String, _ target: String, body: String = "", headers: [String: String?] = [:],
        caller: Caller = .unknown, noteKnown: @escaping @Sendable () -> Void = {}
    ) async -> Answer {
        var all: [String: String?] = ["Host": "localhost:7679", "Authorization": "Bearer \(Self.token)"]
        if !body.isEmpty { all["Content-Type"] = "application/json" }
        all.merge(headers) { $1 }
        var fields = Headers()
        for (name, value) in all { if let value { fields.append(name: name, value: value) } }
        let parts = target.split(separator: "?", maxSplits: 1)
        let request = Request(
            method: method, path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : nil, headers: fields,
            body: Array(body.utf8), caller: caller, noteKnown: noteKnown)
        return Answer(response: await api.respond(to: request))
    }

    struct Answer {
        var response: Response

        var status: Int { response.status }

        var text: String {
            guard case .bytes(let bytes) = response.body else { return "" }
            return String(decoding: bytes, as: UTF8.self)
        }

        var json: JSONText { (try? JSONText(parsing: text)) ?? .null }

        func header(_ name: String) -> String? { response.allHeaders.first { $0.name == name }?.value }
    }

    static let shop = """
        schema: shop
        upstream:
          base_url: http://localhost
          pagination: { style: page }
        entities:
          orders:
            sort: -created_at
            fields:
              id: { type: string }
              status: { type: enum, index: true, values: { open: Open, ready: Ready } }
              total: { type: money }
              created_at: { type: time, index: true }
            many:
              messages: { of: messages, by: order_id }
            pull: { path: /orders, changed_at: created_at }
            push:
              create: { call: POST /orders }
              update: { call: "PATCH /orders/{id}" }
          messages:
            fields:
              id: { type: string }
              order_id: { type: reference, to: orders, index: true, required: true }
              text: { type: string, required: true, search: true }
              number: { type: string, search: fragments }
            pull: { path: /messages }
            push:
              create: { call: "POST /orders/{order_id}/messages" }
        """
}

/// An unreachable upstream.
struct AbsentUpstream: Upstream {
    var budget: RequestBudget.Balance?

    func account() async throws(UpstreamError) -> SignedInAccount? { throw .offline("unreachable") }
    func page(_ request: PageRequest) async throws(UpstreamError) -> Page { throw .offline("unreachable") }
    func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        throw .offline("unreachable")
    }
    func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> PushAnswer {
        throw .offline("unreachable")
    }
    func probe() async throws(UpstreamError) { throw .offline("unreachable") }
}

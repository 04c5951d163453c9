import Foundation
import JSONText
import TestSupport
import Testing
import Upstream

/// Signals of the built reference upstream; the built daemon polls once a day only.
@Suite("Signals of the upstream", .serialized, .timeLimit(.minutes(10)))
struct SignalTests {
    /// Far below the time of the next poll; a busy machine needs some of it.
    private static let patience = Duration.seconds(60)

    private func with(
        _ source: String, settings: String = "", _ body: (Shop) async throws -> Void
    ) async throws {
        let shop = try await Shop(rows: 40, settings: settings) { text in
            text.replacing("\nupstream:\n", with: "\nupstream:\n  signals: [{ \(source) }]\n", maxReplacements: 1)
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body(shop)) } catch { result = .failure(error) }
        await shop.end()
        try result.get()
    }

    /// Asks again after each change of the cache, and once a second, since the status also changes without one.
    private func becomesTrue(_ shop: Shop, _ condition: () async throws -> Bool) async throws -> Bool {
        let end = ContinuousClock.now + Self.patience
        var seen = 0
        while ContinuousClock.now < end {
            if try await condition() { return true }
            seen = try #require(await shop.call("GET", "/v1/changes?since=\(seen)&wait=1").body["next"]?.integer)
        }
        return false
    }

    private func status(_ shop: Shop) async throws -> JSONText {
        try await shop.call("GET", "/v1/status").body["signals"]?.elements.first ?? .null
    }

    private func hasOrders(_ shop: Shop) async throws -> Bool {
        try await shop.call("GET", "/v1/orders").body["data"]?.elements.isEmpty == false
    }

    private func notes(_ key: String, _ shop: Shop) async throws -> String? {
        try await shop.call("GET", "/v1/orders/\(key)").body["notes"]?.string
    }

    /// The first sync and the pull for what was missed before it are over.
    private func settle(_ shop: Shop) async throws {
        #expect(try await becomesTrue(shop) { try await hasOrders(shop) })
        #expect(try await becomesTrue(shop) { try await status(shop)["connected"] == true })
        _ = try await shop.call("POST", "/v1/sync?wait=true")
    }

    /// Edits, creates and deletes there; each is here before long.
    private func followsChanges(_ shop: Shop) async throws {
        let orders = try await shop.admin("records/orders")
        for number in 0..<3 {
            let key = try #require(orders[number]["id"]?.plain)
            _ = try await shop.admin("records/orders/\(key)", "PATCH", .object(["notes": .string("told \(number)")]))
            #expect(try await becomesTrue(shop) { try await notes(key, shop) == "told \(number)" })
        }
        let key = try #require(orders[5]["id"]?.plain)
        _ = try await shop.admin("records/orders/\(key)", "DELETE")
        #expect(try await becomesTrue(shop) { try await shop.call("GET", "/v1/orders/\(key)").status == 404 })
        let status = try await status(shop)
        #expect(status["last_signal_at"]?.string != nil && status["error"]?.kind == .null)
    }

    @Test("changes that a stream names are here without a poll, also after the stream was cut")
    func stream() async throws {
        let source = """
            sse: { path: /api/realtime, \
            subscribe: { on: READY, call: POST /api/realtime, body: { me: "{$event.client}" } }, \
            entity: { at: record.kind, names: { sales: orders } }, key: record.id }
            """
        try await with(source) { shop in
            try await settle(shop)
            try await followsChanges(shop)
            await shop.gateway.close()
            #expect(try await becomesTrue(shop) { try await status(shop)["connected"] == false })
            let key = try #require(try await shop.admin("records/orders")[7]["id"]?.plain)
            _ = try await shop.admin("records/orders/\(key)", "PATCH", .object(["notes": "missed"]))
            try await shop.gateway.open()
            #expect(try await becomesTrue(shop) { try await notes(key, shop) == "missed" })
        }
    }

    @Test(
        "changes that a list of events names are here without a poll",
        arguments: ["next: meta.cursor", "next: { last: seq }", "greatest: seq"])
    func events(_ position: String) async throws {
        let source = """
            events: { path: /api/log, records: data, since: { param: after, \(position) }, every: 200ms, \
            entity: { at: kind }, key: id }
            """
        try await with(source) { shop in
            try await settle(shop)
            try await followsChanges(shop)
        }
    }

    @Test("a signed call causes a read, an unsigned one nothing, and the listener has nothing else")
    func webhook() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("a-long-secret\n", to: "secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        let source = """
            webhook: { path: /hooks/orders, signature: { header: X-Token, algorithm: token }, entity: orders, key: id, \
            challenge: hub.challenge }
            """
        let settings = "signals: { listen: \"127.0.0.1:0\", secret_file: \(file) }"
        try await with(source, settings: settings) { shop in
            let line = try await shop.daemonLine(containing: "listening for webhooks")
            let address = try #require(line.firstMatch(of: /http:\/\/127\.0\.0\.1:[0-9]+/)).output
            let transport = try CurlTransport(userAgent: "test")
            func call(_ path: String, _ body: JSONText?, token: String? = nil) async throws -> HTTPResponse {
                try await transport.send(
                    HTTPRequest(
                        method: body == nil ? "GET" : "POST", url: address + path,
                        headers: token.map { [HTTPHeader("X-Token", $0)] } ?? [], body: body.map { Array($0.bytes) }))
            }
            #expect(try await becomesTrue(shop) { try await hasOrders(shop) })
            let key = try #require(try await shop.admin("records/orders")[0]["id"]?.plain)
            _ = try await shop.admin("records/orders/\(key)", "PATCH", .object(["notes": "told"]))
            let message = JSONText.object(["id": .string(key), "notes": "forged"])
            #expect(try await call("/hooks/orders", message).status == 401)
            #expect(try await call("/hooks/orders", message, token: "another-secret").status == 401)
            #expect(try await call("/v1/orders", nil).status == 404)
            #expect(try await call("/hooks/orders?hub.challenge=42", nil).body == Array("42".utf8))
            #expect(try await notes(key, shop) != "told")
            #expect(try await call("/hooks/orders", message, token: "a-long-secret").status == 204)
            #expect(try await becomesTrue(shop) { try await notes(key, shop) == "told" })
            let metrics = String(decoding: try await shop.exchange("GET", "/metrics", []).body, as: UTF8.self)
            #expect(metrics.contains("signals_total{source=\"webhook /hooks/orders\",outcome=\"refused\"} 2"))
        }
    }
}

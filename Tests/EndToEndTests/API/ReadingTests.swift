import JSONText
import Testing
import Upstream

/// Reading over HTTP, tested with the built commands.
@Suite("Reading over HTTP", .serialized)
struct ReadingTests {
    @Test("records are read with relations, conditions and refreshes", .timeLimit(.minutes(5)))
    func reading() async throws {
        let shop = try await Shop()
        do {
            #expect(try await shop.command("sync", "--wait").status == 0)
            let order = try await includes(shop)
            let tag = try await heads(shop, order)
            try await conditions(shop, order, tag)
            try await figures(shop)
            try await refreshes(shop, order)
        } catch {
            await shop.end()
            throw error
        }
        await shop.end()
    }

    /// Returns an order.
    private func includes(_ shop: Shop) async throws -> String {
        let list = try await shop.call("GET", "/v1/orders?include=client,devices.order&limit=20").body
        let orders = list["data"]?.elements ?? []
        try #require(orders.count == 20)
        for order in orders {
            #expect(order.at(path: "_include.client.id") == order["client_id"])
            let devices = order.at(path: "_include.devices")?.elements ?? []
            #expect(devices.count == order["device_count"]?.integer)
            #expect(devices.allSatisfy { $0.at(path: "_include.order.id") == order["id"] })
            #expect(devices.allSatisfy { $0["passcode"] == nil })
        }
        return try #require(orders.first?["id"]?.string)
    }

    private func heads(_ shop: Shop, _ order: String) async throws -> String {
        let paths = ["orders", "orders/\(order)", "orders/\(order)/devices", "status", "pending", "conflicts", "drift"]
        for path in paths {
            // Without compression, whose length is not that of the body as it is read.
            let plain = [HTTPHeader("Accept-Encoding", "identity")]
            let get = try await shop.exchange("GET", "/v1/\(path)", plain)
            let head = try await shop.exchange("HEAD", "/v1/\(path)", plain)
            #expect(head.status == 200 && get.status == 200, "\(path)")
            #expect(head.body.isEmpty && !get.body.isEmpty)
            for name in ["Content-Type", "ETag"] { #expect(head.header(name) == get.header(name), "\(path) \(name)") }
            if path != "status" { #expect(head.header("Content-Length") == "\(get.body.count)", "\(path)") }
        }
        let tag = try #require(try await shop.exchange("GET", "/v1/orders/\(order)", []).header("ETag"))
        for method in ["GET", "HEAD"] {
            let known = try await shop.exchange(method, "/v1/orders/\(order)", [HTTPHeader("If-None-Match", tag)])
            #expect(known.status == 304 && known.body.isEmpty)
            #expect(known.header("ETag") == tag)
        }
        return tag
    }

    private func conditions(_ shop: Shop, _ order: String, _ tag: String) async throws {
        let change = JSONText.object(["notes": "seen"])
        let path = "/v1/orders/\(order)"
        let first = try await shop.exchange("PATCH", path, [HTTPHeader("If-Match", tag)], change)
        #expect(first.status == 200)
        #expect(first.header("ETag") != tag)
        let second = try await shop.exchange("PATCH", path, [HTTPHeader("If-Match", tag)], .object(["notes": "unseen"]))
        #expect(second.status == 412)
        #expect(second.header("Content-Type") == "application/problem+json")
    }

    /// The daemon's metrics count what the engine did.
    private func figures(_ shop: Shop) async throws {
        #expect(try await shop.command("sync", "--wait").status == 0)
        let lines = try await String(decoding: shop.exchange("GET", "/metrics", []).body, as: UTF8.self)
            .split(separator: "\n")
        func count(_ start: String) -> Int {
            lines.filter { $0.hasPrefix("repairminder_sync_\(start)") }
                .reduce(0) { $0 + (Int($1.split(separator: " ").last ?? "") ?? 0) }
        }
        #expect(count(#"pull_duration_seconds_count{entity="orders",outcome="completed"}"#) >= 2)
        #expect(count(#"push_duration_seconds_count{entity="orders",outcome="acknowledged"}"#) == 1)
        #expect(count(#"pulled_records_written_total{entity="orders"}"#) >= 20)
    }

    private func refreshes(_ shop: Shop, _ order: String) async throws {
        let path = "/v1/orders/\(order)?refresh=true"
        let fresh = try await shop.exchange("GET", path, [])
        #expect(fresh.header("Cache-Status")?.contains("fwd=request; fwd-status=200") == true)
        #expect(try await shop.call("GET", "/v1/orders/no-such-order").status == 404)
        await shop.gateway.close()
        let cached = try await shop.exchange("GET", path, [])
        #expect(cached.status == 200)
        #expect(cached.header("Cache-Status")?.contains("; hit; detail=") == true)
        #expect(try await shop.call("GET", "/v1/orders/no-such-order").status == 404)
    }
}

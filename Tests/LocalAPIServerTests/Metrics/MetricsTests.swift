import CacheStore
import EntitySchema
import JSONText
import SyncEngine
import Testing

@testable import LocalAPIServer

@Suite("Metrics")
struct MetricsTests {
    private func metrics(_ api: TestAPI) async throws -> ExpositionParser {
        let answer = await api.call("GET", "/metrics")
        #expect(answer.status == 200)
        #expect(answer.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8")
        let parsed = ExpositionParser(answer.text)
        #expect(parsed.complaints.isEmpty, "\(parsed.complaints)")
        return parsed
    }

    @Test("the cache's state is shown in valid Prometheus metrics")
    func cache() async throws {
        let api = try await TestAPI.filled()
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#)
        let metrics = try await metrics(api)
        #expect(metrics.value("repairminder_sync_records", ["entity": "orders"]) == 2)
        #expect(metrics.value("repairminder_sync_records", ["entity": "messages"]) == 0)
        #expect(metrics.value("repairminder_sync_queue_changes", ["state": "queued"]) == 1)
        for state in ["uploading", "waiting", "failed", "blocked"] {
            #expect(metrics.value("repairminder_sync_queue_changes", ["state": state]) == 0)
        }
        #expect(metrics.value("repairminder_sync_queue_oldest_change_age_seconds") == 0)
        #expect(metrics.value("repairminder_sync_open_conflicts") == 0)
        #expect(metrics.value("repairminder_sync_build_info", ["version": "1", "schema": "shop"]) == 1)
        #expect(metrics.value("process_start_time_seconds") == Double(TestAPI.now.milliseconds) / 1000 - 5)
        #expect(try #require(metrics.value("repairminder_sync_database_size_bytes")) > 0)
        #expect(try #require(metrics.value("repairminder_sync_database_wal_size_bytes")) > 0)
    }

    @Test("one series says which daemon this is")
    func identity() async throws {
        let metrics = try await metrics(TestAPI.filled())
        let labels = ["instance": "till-2", "site": "north", "schema_hash": "0a1b"]
        #expect(metrics.value("repairminder_sync_info", labels) == 1)
    }

    @Test("requests are counted by route, never by text that callers choose")
    func requests() async throws {
        let api = try await TestAPI.filled()
        for target in [
            "/v1/orders/a", "/v1/orders/b", "/v1/orders/nothing", "/v1/secrets", "/x/y/z", "/v1/pending/count",
        ] {
            _ = await api.call("GET", target)
        }
        _ = await api.call("BREW", "/v1/orders/a")
        _ = await api.call("GET", "/v1/status", headers: ["Authorization": nil])
        let metrics = try await metrics(api)
        func count(_ route: String, _ method: String, _ status: String) -> Double? {
            metrics.value(
                "repairminder_sync_api_request_duration_seconds_count",
                ["route": route, "method": method, "status": status])
        }
        #expect(count("/v1/{entity}/{id}", "GET", "2xx") == 2)
        #expect(count("/v1/pending/count", "GET", "2xx") == 1)
        #expect(count("/v1/{entity}/{id}", "other", "4xx") == 1)
        #expect(count("other", "GET", "4xx") == 3)
    }

    @Test(
        "a path is labelled with its template",
        arguments: [
            ("/healthz", "/healthz"), ("/v1/orders", "/v1/{entity}"),
            ("/v1/orders/a/messages", "/v1/{entity}/{id}/{relation}"),
            ("/v1/orders/a/history", "/v1/{entity}/{id}/history"), ("/v1/orders/count", "/v1/{entity}/{id}"),
            ("/v1/pending/7", "/v1/pending/{id}"), ("/v1/pending/7/retry", "/v1/pending/{id}/retry"),
            ("/v1/sync/pause", "/v1/sync/pause"), ("/v1/nothing", "other"), ("/v2/orders", "other"), ("/v1", "/v1"),
            ("/v1/orders/a/b/c", "other"), ("/", "/"),
        ])
    func templates(_ path: String, _ template: String) throws {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: http://localhost }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /o } } }
                """, file: "s.yaml")
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let router = Router(RouteTable(schema), schema)
        #expect((router.match(segments)?.place.label ?? router.label(of: segments)) == template)
    }

    @Test("the engine's work is counted with its duration")
    func work() {
        let metrics = Metrics(uptime: { .zero })
        metrics.record(.push(entity: "orders", .acknowledged, duration: .milliseconds(30)))
        metrics.record(.push(entity: "orders", .retry, duration: .seconds(400)))
        metrics.record(.pull(entity: "orders", .completed, duration: .seconds(2)))
        metrics.record(.pulled(entity: "orders", written: 7, deleted: 2))
        metrics.record(.pulled(entity: "orders", written: 3, deleted: 0))
        #expect(metrics.retries.value == 1)
        #expect(metrics.written["orders"].value == 10)
        #expect(metrics.deleted["orders"].value == 2)
        let pushes = metrics.pushes.all
        #expect(pushes.map(\.labels.outcome) == ["acknowledged", "retry"])
        #expect(pushes.map(\.series.snapshot.sum) == [0.03, 400])
        #expect(pushes[1].series.snapshot.counts.last == 1)
        #expect(metrics.pulls.all.first?.series.snapshot.counts.reduce(0, +) == 1)
    }

    @Test("label values are escaped, and numbers written in the format")
    func notation() {
        var text = MetricsText()
        text.family("things", .gauge, "Of all\nkinds, \\ and \".") { family in
            family.sample([("name", "a\"b\\c\nd")], 0.25)
            family.sample([("name", "é")], .infinity)
        }
        text.family("nothing", .gauge, "Left out.") { _ in }
        #expect(
            String(decoding: text.bytes, as: UTF8.self) == #"""
                # HELP things Of all\nkinds, \\ and ".
                # TYPE things gauge
                things{name="a\"b\\c\nd"} 0.25
                things{name="é"} +Inf

                """#)
        let parsed = ExpositionParser(String(decoding: text.bytes, as: UTF8.self))
        #expect(parsed.complaints.isEmpty)
        #expect(parsed.samples("things").first?.labels == ["name": "a\"b\\c\nd"])
    }

    @Test(
        "the checker finds what Prometheus rejects",
        arguments: [
            "a 1\n", "# TYPE a gauge\na 1\n", "# HELP a x\n# TYPE a counter\na 1\n", "# HELP a x\n# TYPE a gauge\na 1",
            "# HELP a x\n# TYPE a gauge\na 1\na 2\n", "# HELP a x\n# TYPE a gauge\nb 1\n",
            "# HELP a x\n# TYPE a gauge\na{l=\"x} 1\n", "# HELP a x\n# TYPE a gauge\na{l=\"x\" } 1\n",
            "# HELP a x\n# TYPE a gauge\na one\n", "# HELP a_ms x\n# TYPE a_ms gauge\na_ms 1\n",
            "# HELP a x\n# TYPE a gauge\na 1\n# HELP a x\n# TYPE a gauge\na 1\n",
            "# HELP a x\n# TYPE a histogram\na_bucket{le=\"1\"} 1\na_sum 1\na_count 1\n",
            "# HELP a x\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
            "# HELP a x\n# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_count 1\n", "# HELP a x\n# TYPE a gauge\n",
        ])
    func checker(_ text: String) {
        #expect(!ExpositionParser(text).complaints.isEmpty)
    }
}

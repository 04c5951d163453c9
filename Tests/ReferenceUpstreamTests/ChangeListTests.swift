import JSONText
import ReferenceUpstream
import Testing

@Suite("Lists of changes")
struct ChangeListTests {
    private func shop() throws -> Harness {
        let stamps = ["c": "2023-01-02", "b": "2023-01-03", "d": "2023-01-02", "a": "2023-01-02"]
        let orders = ["c", "b", "d", "a"].map { #"{"id":"\#($0)","updated_at":"\#(stamps[$0] ?? "")T00:00:00.000Z"}"# }
        return try Harness(
            TestSchema.repairminder(), ["orders": orders + [#"{"id":"never"}"#, #"{"id":"odd","updated_at":7}"#]])
    }

    private func since(_ time: String) -> String { "/api/orders?updated_since=\(time)" }

    @Test("records come by change time, then key, including the given time")
    func order() async throws {
        let harness = try shop()
        #expect(try await harness.get(since("2023-01-02T00:00:00Z")).column("id") == ["a", "c", "d", "b"])
        #expect(try await harness.get(since("2023-01-02T00:00:00.001Z")).column("id") == ["b"])
        #expect(try await harness.get(since("2024-01-01")).at("pagination.total") == 0)
    }

    @Test("records that changed at the same time are each on one page only")
    func ties() async throws {
        let harness = try shop()
        var ids: [String] = []
        for page in 1...4 { ids += try await harness.get(since("2023-01-01") + "&limit=1&page=\(page)").column("id") }
        #expect(ids == ["a", "c", "d", "b"])
    }

    @Test("a change moves its record to the end, and a creation adds one there")
    func moves() async throws {
        let harness = try shop()
        _ = try await harness.get(since("2023-01-01"))
        let time = try harness.at("2023-06-01T00:00:00Z")
        try harness.upstream.update("orders", "a", with: JSONText(parsing: #"{"notes":"x"}"#))
        try harness.upstream.create(JSONText(parsing: #"{"id":"0","client_id":"c"}"#), in: "orders")
        let reply = try await harness.get(since("2023-01-01"))
        #expect(try reply.column("id") == ["c", "d", "b", "0", "a"])
        #expect(try reply.column("updated_at").suffix(2) == [time, time])
        #expect(try await harness.get("/api/orders").column("id") == ["c", "b", "d", "a", "never", "odd", "0"])
    }

    @Test("a deleted record appears only in lists of changes")
    func tombstones() async throws {
        let harness = try shop()
        _ = try await harness.get(since("2023-01-01"))
        let time = try harness.at("2023-06-01T00:00:00Z")
        try harness.upstream.delete("orders", "b")
        let reply = try await harness.get(since(time))
        #expect(try reply.at("data").text == #"[{"id":"b","deleted_at":"2023-06-01T00:00:00.000Z"}]"#)
        #expect(try reply.at("pagination.total") == 1)
        #expect(try await harness.get(since("2023-01-03")).column("id") == ["b"])
        #expect(try await harness.get("/api/orders").column("id") == ["c", "d", "a", "never", "odd"])
        #expect(try await harness.get("/api/orders/b").status == 404)
        #expect(!harness.upstream.records(of: "orders").contains { $0["id"] == "b" })
    }

    @Test("a record deleted before the first list of changes appears too")
    func earlyTombstone() async throws {
        let harness = try shop()
        try harness.at("2023-06-01T00:00:00Z")
        try harness.upstream.delete("orders", "never")
        #expect(try await harness.get(since("2023-05-01")).column("id") == ["never"])
    }

    @Test("a record created with a deleted one's key replaces it in lists of changes")
    func reborn() async throws {
        let harness = try shop()
        try harness.upstream.delete("orders", "a")
        _ = try await harness.get(since("2023-01-01"))
        try harness.upstream.create(JSONText(parsing: #"{"id":"a","client_id":"c"}"#), in: "orders")
        let reply = try await harness.get(since("2023-01-04"))
        #expect(try reply.column("deleted_at") == ["–"])
        #expect(try reply.column("client_id") == ["c"])
        #expect(try await harness.get("/api/orders/a").status == 200)
    }

    @Test("filters apply to lists of changes, but hide no deletion")
    func filtered() async throws {
        let harness = try shop()
        try harness.upstream.update("orders", "a", with: JSONText(parsing: #"{"status":"ready"}"#))
        try harness.upstream.delete("orders", "b")
        #expect(try await harness.get(since("2023-01-01") + "&status=ready").column("id") == ["a", "b"])
    }

    @Test("after any writes, the change order equals a newly sorted one")
    func random() async throws {
        let seed = UInt64.random(in: 0..<1_000_000)
        var random = Numbers(state: seed)
        let harness = try Harness(TestSchema.repairminder())
        _ = try await harness.get(since("2020-01-01"))
        for _ in 0..<300 {
            try harness.at("2023-01-0\(random.below(9) + 1)T00:00:00Z")
            let key = "k\(random.below(40))"
            let exists = harness.upstream.record("orders", key) != nil
            if !exists {
                try harness.upstream.create(.object(["id": .string(key), "client_id": "c"]), in: "orders")
            } else if random.below(4) == 0 {
                try harness.upstream.delete("orders", key)
            } else {
                try harness.upstream.update("orders", key, with: .object(["notes": "x"]))
            }
        }
        let rows = try await harness.get(since("2020-01-01") + "&limit=1000").at("data").elements
        let order = rows.map { ($0["updated_at"] ?? $0["deleted_at"])?.plain ?? "" + ($0["id"]?.plain ?? "") }
        #expect(order == order.sorted(), "seed \(seed)")
        let live = Set(rows.filter { $0["deleted_at"] == nil }.compactMap { $0["id"]?.plain })
        #expect(live == Set(harness.upstream.records(of: "orders").compactMap { $0["id"]?.plain }), "seed \(seed)")
        #expect(Set(rows.map { $0["id"] }).count == rows.count, "seed \(seed)")
    }

    /// A small generator, so a failure can be repeated from its seed.
    private struct Numbers {
        var state: UInt64

        mutating func below(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(count))
        }
    }
}

import EntitySchema
import JSONText
import ReferenceUpstream
import Testing

@Suite("Versions and repeats")
struct VersionTests {
    private let body = #"{"status":"ready"}"#

    private func shop() throws -> Harness {
        try Harness(TestSchema.repairminder(), ["orders": [#"{"id":"o1","status":"booked_in"}"#, #"{"id":"o2"}"#]])
    }

    private func key(_ key: String) -> [(String, String)] { [("Idempotency-Key", key)] }

    @Test("an unchanged record gets 304 without a body")
    func notModified() async throws {
        let harness = try shop()
        let tag = try #require(try await harness.get("/api/orders/o1").header("ETag"))
        for field in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
            let reply = try await harness.get("/api/orders/o1", [("If-None-Match", field)])
            #expect(reply.status == 304)
            #expect(reply.body.isEmpty)
            #expect(reply.header("ETag") == tag)
        }
        #expect(try await harness.get("/api/orders/o2", [("If-None-Match", tag)]).status == 200)
    }

    @Test("a change gives the record another tag, which the response has")
    func newTag() async throws {
        let harness = try shop()
        let before = try await harness.get("/api/orders/o1").header("ETag")
        let answered = try await harness.send("PATCH", "/api/orders/o1", body).header("ETag")
        #expect(answered != before)
        #expect(try await harness.get("/api/orders/o1").header("ETag") == answered)
        #expect(try await harness.get("/api/orders/o1", [("If-None-Match", before ?? "")]).status == 200)
    }

    @Test("an update with an old tag is refused with 412 and changes nothing")
    func precondition() async throws {
        let harness = try shop()
        let tag = try #require(try await harness.get("/api/orders/o1").header("ETag"))
        for field in ["\"x\"", "W/\(tag)"] {
            let reply = try await harness.send("PATCH", "/api/orders/o1", body, headers: [("If-Match", field)])
            #expect(reply.status == 412)
            #expect(try reply.at("code") == "precondition_failed")
        }
        #expect(harness.upstream.record("orders", "o1")?["status"] == "booked_in")
        for field in ["*", "\"x\" , \(tag)"] {
            let harness = try shop()
            #expect(
                try await harness.send("PATCH", "/api/orders/o1", body, headers: [("If-Match", field)]).status == 200)
        }
    }

    @Test("the same write with its key is applied once and gets the same response twice, byte for byte")
    func repeated() async throws {
        let harness = try shop()
        let create = #"{"client_id":"c"}"#
        let first = try await harness.send("POST", "/api/orders", create, headers: key("k"))
        let second = try await harness.send("POST", "/api/orders", create, headers: key("k"))
        #expect(second.status == 201)
        #expect(second.body == first.body)
        #expect(second.header("Location") == first.header("Location"))
        #expect(harness.upstream.records(of: "orders").count == 3)
        #expect(harness.upstream.log.map(\.applied) == [true, false])
        #expect(harness.upstream.log.map(\.idempotencyKey) == ["k", "k"])
    }

    @Test("a repeat gets the first response, whatever happened to the record since")
    func repeatedLate() async throws {
        let harness = try shop()
        let first = try await harness.send("PATCH", "/api/orders/o1", body, headers: key("k"))
        try harness.upstream.delete("orders", "o1")
        let second = try await harness.send("PATCH", "/api/orders/o1", body, headers: key("k"))
        #expect(second.status == 200)
        #expect(second.body == first.body)
    }

    @Test("where the header is only for creations, an edit is applied again with it, and a creation is not")
    func creationsAlone() async throws {
        let yaml = """
            schema: shop
            upstream: { base_url: http://localhost, idempotency_header: { header: Idempotency-Key, for: create } }
            entities:
              orders:
                fields: { id: { type: string }, note: { type: string } }
                pull: { path: /orders }
                push: { create: { call: POST /orders }, update: { call: "PATCH /orders/{id}" } }
            """
        let harness = try Harness(EntitySchema(yaml: yaml, file: "shop.yaml"), ["orders": [#"{"id":"a","note":"n"}"#]])
        for _ in 1...2 {
            _ = try await harness.send("POST", "/orders", #"{"note":"b"}"#, headers: key("1"))
            _ = try await harness.send("PATCH", "/orders/a", #"{"note":"c"}"#, headers: key("2"))
        }
        #expect(harness.upstream.log.map(\.idempotencyKey) == ["1", nil, "1", nil])
        #expect(harness.upstream.log.map(\.applied) == [true, true, false, true])
    }

    @Test("a key used for another request is refused with 422")
    func reused() async throws {
        let harness = try shop()
        _ = try await harness.send("PATCH", "/api/orders/o1", body, headers: key("k"))
        for (path, other) in [("/api/orders/o1", #"{"status":"collected"}"#), ("/api/orders/o2", body)] {
            let reply = try await harness.send("PATCH", path, other, headers: key("k"))
            #expect(reply.status == 422)
            #expect(try reply.at("code") == "idempotency_key_reused")
        }
        #expect(harness.upstream.record("orders", "o2")?["status"] == nil)
    }

    @Test("a refused write does not use up its key")
    func corrected() async throws {
        let harness = try shop()
        let wrong = try await harness.send("PATCH", "/api/orders/o1", #"{"status":"nope"}"#, headers: key("k"))
        #expect(wrong.status == 400)
        #expect(try await harness.send("PATCH", "/api/orders/o1", body, headers: key("k")).status == 200)
    }

    @Test("keys are remembered up to the memory's size, and the oldest are dropped first")
    func forgotten() async throws {
        let harness = try Harness(TestSchema.repairminder(), ["orders": [#"{"id":"o1"}"#]]) { $0.memory = 2 }
        for number in 1...4 {
            _ = try await harness.send("PATCH", "/api/orders/o1", #"{"notes":"\#(number)"}"#, headers: key("\(number)"))
        }
        let kept = try await harness.send("PATCH", "/api/orders/o1", #"{"notes":"4"}"#, headers: key("4"))
        #expect(kept.status == 200)
        #expect(try await harness.send("PATCH", "/api/orders/o1", #"{"notes":"x"}"#, headers: key("4")).status == 422)
        #expect(try await harness.send("PATCH", "/api/orders/o1", #"{"notes":"x"}"#, headers: key("1")).status == 200)
    }
}

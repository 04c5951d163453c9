import JSONText
import ReferenceUpstream
import Testing

@Suite("Admin paths")
struct AdminTests {
    private func shop() throws -> Harness {
        try Harness(TestSchema.repairminder(), ["orders": [#"{"id":"o1","total":129.90}"#, #"{"id":"o2"}"#]]) {
            $0.token = "t"
        }
    }

    @Test("faults are set, shown and cleared")
    func faults() async throws {
        let harness = try shop()
        let rules =
            #"{"faults":[{"effect":"fail","status":503,"retry_after":"30","rate":0.5,"method":"GET","path":"/api"},"#
            + #"{"effect":"latency","duration":"50ms"},{"effect":"hold","duration":"2000ms"},"#
            + #"{"effect":"timeout_after_apply","duration":"60000ms","next":1},{"effect":"cut_body"},{"effect":"offline"}]}"#
        #expect(try await harness.send("POST", "/__admin/faults", rules).text == rules)
        #expect(try await harness.get("/__admin/faults").text == rules)
        #expect(harness.upstream.faults.rules.count == 6)
        #expect(try await harness.send("DELETE", "/__admin/faults").text == #"{"faults":[]}"#)
        #expect(harness.upstream.faults == Faults())
    }

    @Test(
        "an invalid fault is rejected with what was expected, and the old ones stay",
        arguments: [
            "", "[]", "{}", #"{"faults":[{}]}"#, #"{"faults":[{"effect":"burn"}]}"#, #"{"faults":[{"effect":"fail"}]}"#,
            #"{"faults":[{"effect":"fail","status":99}]}"#, #"{"faults":[{"effect":"latency","duration":5}]}"#,
            #"{"faults":[{"effect":"offline","rate":2}]}"#, #"{"faults":[{"effect":"offline","nxt":2}]}"#,
            #"{"faults":[{"effect":"offline","next":-1}]}"#,
            #"{"faults":[{"effect":"fail","status":503,"retry_after":"1\r\nX: y"}]}"#,
        ])
    func refused(_ body: String) async throws {
        let harness = try shop()
        harness.upstream.faults = Faults([.init(.cutBody)])
        #expect(try await harness.send("POST", "/__admin/faults", body).status == 400)
        #expect(harness.upstream.faults == Faults([.init(.cutBody)]))
    }

    @Test("admin paths need no token, have no faults, and are not logged")
    func exempt() async throws {
        let harness = try shop()
        harness.upstream.faults = Faults([.init(.offline)])
        #expect(try await harness.get("/__admin/faults").status == 200)
        #expect(harness.upstream.log.isEmpty)
    }

    @Test("the log has a line for every request until it is cleared")
    func log() async throws {
        let harness = try shop()
        let time = try harness.at("2023-03-03T03:03:03Z")
        _ = try await harness.get("/api/orders?limit=1", [("Authorization", "Bearer t")])
        _ = try await harness.send("PATCH", "/api/orders/o2", "{}", headers: [("Idempotency-Key", "k")])
        let reply = try await harness.get("/__admin/log")
        #expect(reply.header("Content-Type") == "application/x-ndjson")
        #expect(
            reply.text == """
                {"seq":1,"time":"\(time)","method":"GET","path":"/api/orders","query":"limit=1","idempotency_key":null,\
                "status":200,"applied":false,"fault":null}
                {"seq":2,"time":"\(time)","method":"PATCH","path":"/api/orders/o2","query":null,"idempotency_key":"k",\
                "status":401,"applied":false,"fault":null}

                """)
        #expect(try await harness.send("DELETE", "/__admin/log").status == 204)
        #expect(try await harness.get("/__admin/log").text == "")
        _ = try await harness.get("/api/health")
        #expect(harness.upstream.log.map(\.seq) == [3])
        #expect(harness.upstream.log.map(\.status) == [200])
    }

    @Test("all records of an entity are returned as lines, byte for byte")
    func records() async throws {
        let harness = try shop()
        let reply = try await harness.get("/__admin/records/orders")
        #expect(reply.text == #"{"id":"o1","total":129.90}"# + "\n" + #"{"id":"o2"}"# + "\n")
        #expect(try await harness.get("/__admin/records/nothing").status == 404)
        #expect(try await harness.get("/__admin/records/orders/o1").text == #"{"id":"o1","total":129.90}"#)
    }

    @Test("records can be changed by admin calls, with or without routes")
    func edits() async throws {
        let harness = try shop()
        let time = try harness.at("2023-03-03T03:03:03Z")
        let made = try await harness.send("POST", "/__admin/records/clients", #"{"id":"c","email":"a@example.org"}"#)
        #expect(made.status == 201)
        let changed = try await harness.send("PATCH", "/__admin/records/orders/o1", #"{"total":1.10}"#)
        #expect(changed.text == #"{"id":"o1","total":1.10,"updated_at":"\#(time)"}"#)
        #expect(try await harness.send("DELETE", "/__admin/records/orders/o2").status == 204)
        #expect(harness.upstream.records(of: "orders").count == 1)
        #expect(try await harness.send("DELETE", "/__admin/records/orders/o2").status == 404)
    }

    @Test("an unknown admin path is refused with 404, a wrong method with 405")
    func unknown() async throws {
        let harness = try shop()
        #expect(try await harness.get("/__admin/").status == 404)
        #expect(try await harness.get("/__admin/log/1").status == 404)
        #expect(try await harness.send("PUT", "/__admin/log").header("Allow") == "DELETE, GET")
    }
}

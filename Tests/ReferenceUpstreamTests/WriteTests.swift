import EntitySchema
import JSONText
import ReferenceUpstream
import TestSupport
import Testing

@Suite("Writes")
struct WriteTests {
    private let order = #"{"id":"o1","status":"ready","total":129.90,"updated_at":"2023-01-01T00:00:00.000Z"}"#

    private func shop(_ adjust: (inout ReferenceUpstream.Settings) -> Void = { _ in }) throws -> Harness {
        try Harness(
            TestSchema.repairminder(), ["orders": [order], "clients": [#"{"id":"c1","order_count":4}"#]], adjust)
    }

    @Test("a create keeps its key and gets its times")
    func create() async throws {
        let harness = try shop()
        let time = try harness.at("2023-05-05T05:05:05Z")
        let reply = try await harness.send("POST", "/api/orders", #"{"id":"x y","client_id":"c1","total":10.00}"#)
        #expect(reply.status == 201)
        #expect(reply.header("Location") == "/api/orders/x%20y")
        let sent = #"{"id":"x y","client_id":"c1","total":10.00,"created_at":"\#(time)""#
        #expect(try reply.at("data").text.hasPrefix(sent))
        #expect(try reply.at("data.updated_at").string == time.description)
        #expect(try reply.at("data.status") == "booked_in", "a default")
        #expect(try reply.at("data.order_number").integer == 1, "the next number")
        #expect(try await harness.get("/api/orders/x%20y").at("data") == reply.at("data"))
    }

    @Test("a create without a key gets one, and with server ids every create does")
    func serverIds() async throws {
        let first = try await shop().send("POST", "/api/orders", #"{"client_id":"c1"}"#)
        #expect(try first.at("data.id").plain.hasPrefix("ord_"))
        let second = try await shop { $0.serverIds = true }.send(
            "POST", "/api/orders", #"{"id":"mine","client_id":"c1"}"#)
        #expect(try second.at("data.id").plain.hasPrefix("ord_"))
    }

    @Test("with server ids, a record keyed by a reference has the key of the record that it refers to")
    func referenceKey() async throws {
        let harness = try Harness(
            ProjectFiles.schema("itori"), ["courses": [#"{"id":"c1","title":"Algebra"}"#]]
        ) { $0.serverIds = true }
        let grade = try await harness.send("POST", "/api/grades", #"{"course_id":"c1","letter":"A"}"#)
        #expect(try grade.at("data.course_id") == "c1")
        #expect(try await harness.get("/api/grades/c1").at("data.letter") == "A")
    }

    @Test("a create with an existing key is refused with 409")
    func exists() async throws {
        let reply = try await shop().send("POST", "/api/orders", #"{"id":"o1","client_id":"c1"}"#)
        #expect(reply.status == 409)
    }

    @Test("an update changes the named fields, including to null, and leaves the rest byte for byte")
    func update() async throws {
        let harness = try shop()
        let time = try harness.at("2023-05-05T05:05:05Z")
        let reply = try await harness.send("PATCH", "/api/orders/o1", #"{"status":null,"notes":"é\u00e9"}"#)
        #expect(reply.status == 200)
        #expect(
            try reply.at("data").text
                == #"{"id":"o1","status":null,"total":129.90,"updated_at":"\#(time)","notes":"é\u00e9"}"#)
    }

    @Test("an update of a missing record is refused with 404, of the key with 400")
    func updateRefused() async throws {
        let harness = try shop()
        #expect(try await harness.send("PATCH", "/api/orders/none", #"{"status":"ready"}"#).status == 404)
        #expect(try await harness.send("PATCH", "/api/orders/o1", #"{"id":"o2"}"#).status == 400)
        #expect(try await harness.send("PATCH", "/api/orders/o1", #"{"id":"o1","notes":"x"}"#).status == 200)
    }

    @Test(
        "a value outside its enum is refused with 400 and changes nothing", arguments: [#""nope""#, "5", "true", "{}"])
    func enums(_ value: String) async throws {
        let harness = try shop()
        let reply = try await harness.send("PATCH", "/api/orders/o1", #"{"status":\#(value)}"#)
        #expect(reply.status == 400)
        #expect(try reply.at("error").plain.contains("booked_in"))
        #expect(harness.upstream.record("orders", "o1")?.text == order)
    }

    @Test("a create without a required field is refused with 400")
    func required() async throws {
        let reply = try await shop().send("POST", "/api/orders", #"{"status":"ready","client_id":null}"#)
        #expect(reply.status == 400)
        #expect(try reply.at("error").plain.hasPrefix("client_id"))
    }

    @Test("a body that is not a JSON object is refused with 400", arguments: ["", "{", "[]", "null", "{\"a\":1}x"])
    func malformed(_ body: String) async throws {
        let reply = try await shop().send("POST", "/api/orders", body)
        #expect(reply.status == 400)
        #expect(try reply.at("code") == "malformed_json")
        #expect(try reply.at("success") == false)
    }

    @Test("an unknown path is refused with 404, a wrong method with 405 and what is allowed")
    func paths() async throws {
        let harness = try shop()
        for path in ["/", "/api", "/api/order", "/api/orders/", "/api/orders/o1/x", "/api/orders/%zz"] {
            #expect(try await harness.get(path).status == 404)
        }
        let list = try await harness.send("DELETE", "/api/orders", "")
        #expect(list.status == 405)
        #expect(list.header("Allow") == "GET, HEAD, POST")
        #expect(try await harness.send("DELETE", "/api/orders/o1").header("Allow") == "GET, HEAD, PATCH")
        #expect(try await harness.send("POST", "/api/clients", "{}").status == 405)
    }

    @Test("a dangling reference is refused with 422 if configured")
    func references() async throws {
        let body = #"{"client_id":"missing"}"#
        #expect(try await shop().send("POST", "/api/orders", body).status == 201)
        let strict = try shop { $0.checksReferences = true }
        #expect(try await strict.send("POST", "/api/orders", body).status == 422)
        #expect(try await strict.send("POST", "/api/orders", #"{"client_id":"c1"}"#).status == 201)
    }

    @Test("a child's creation updates its parent's count, change time, and time of the last child")
    func parents() async throws {
        let ticket = #"{"id":"t1","message_count":3,"last_message_at":null,"updated_at":"2023-01-01T00:00:00Z"}"#
        let harness = try Harness(TestSchema.repairminder(), ["tickets": [ticket]])
        let time = try harness.at("2023-05-05T05:05:05Z")
        let reply = try await harness.send("POST", "/api/tickets/t1/messages", #"{"content":"hi","is_internal":true}"#)
        #expect(reply.status == 201)
        #expect(reply.header("Location") == nil)
        #expect(try reply.at("data.ticket_id") == "t1")
        #expect(try reply.at("data.created_at").plain == time)
        #expect(
            harness.upstream.record("tickets", "t1")?.text
                == #"{"id":"t1","message_count":4,"last_message_at":"\#(time)","updated_at":"\#(time)"}"#)
        #expect(try await harness.get("/api/tickets?updated_since=\(time)").column("id") == ["t1"])
        #expect(try await harness.get("/api/tickets/t1/messages").column("content") == ["hi"])
    }

    @Test("a count that stands in an object is kept there")
    func nestedCount() throws {
        let client = #"{"id":"c1","stats":{"order_count":4}}"#
        let order = #"{"id":"o1","client":{"id":"c1"}}"#
        let harness = try Harness(TestSchema.live(), ["clients": [client], "orders": [order]])
        try harness.upstream.delete("orders", "o1")
        #expect(harness.upstream.record("clients", "c1")?.text == client.replacing("4", with: "3"))
    }

    @Test("a record that moves to another parent is counted there")
    func moved() throws {
        let harness = try Harness(
            TestSchema.repairminder(),
            [
                "orders": [#"{"id":"o1","client_id":"a"}"#],
                "clients": [#"{"id":"a","order_count":1}"#, #"{"id":"b","order_count":1}"#],
            ])
        try harness.upstream.update("orders", "o1", with: .object(["client_id": "b"]))
        #expect(harness.upstream.record("clients", "a")?["order_count"] == 0)
        #expect(harness.upstream.record("clients", "b")?["order_count"] == 2)
    }

    @Test("a route that sends a list of one record takes that, and no record without the list")
    func listOfOne() async throws {
        let yaml = """
            schema: shop
            upstream: { base_url: http://localhost, idempotency_header: Idempotency-Key }
            entities:
              orders:
                fields: { id: { type: string }, note: { type: string } }
                pull: { path: /orders }
                push: { create: { call: POST /orders, fields: [note], body: [$fields] } }
            """
        let harness = try Harness(EntitySchema(yaml: yaml, file: "shop.yaml"))
        let made = try await harness.send("POST", "/orders", #"[{"note":"a"}]"#)
        #expect(made.status == 201 || made.status == 200, "\(made.text)")
        #expect(harness.upstream.records(of: "orders").compactMap { $0["note"] } == ["a"])
        #expect(try await harness.send("POST", "/orders", #"{"note":"b"}"#).status == 400)
    }

    @Test("a route that names the record in its query or its body changes that record")
    func keyElsewhere() async throws {
        let yaml = """
            schema: shop
            upstream: { base_url: http://localhost }
            entities:
              orders:
                fields: { id: { type: integer }, note: { type: string } }
                pull: { path: /orders, record: none }
                push:
                  update: { call: PUT /orders, fields: [note], body: { <<: $record, id: "{id}" } }
                  delete:
                    - { call: "DELETE /orders?id={id}", when: { note: b } }
                    - { call: POST /orders/delete, body: { id: "{id}" } }
            """
        let rows = [#"{"id":1,"note":"a"}"#, #"{"id":2,"note":"a"}"#, #"{"id":3,"note":"a"}"#]
        let harness = try Harness(EntitySchema(yaml: yaml, file: "shop.yaml"), ["orders": rows])
        #expect(try await harness.send("PUT", "/orders", #"{"id":2,"note":"b"}"#).status == 200)
        #expect(harness.upstream.records(of: "orders").compactMap { $0["note"]?.string } == ["a", "b", "a"])
        #expect(try await harness.send("PUT", "/orders", #"{"id":9,"note":"b"}"#).status == 404)
        _ = try await harness.send("DELETE", "/orders?id=2")
        _ = try await harness.send("POST", "/orders/delete", #"{"id":3}"#)
        #expect(harness.upstream.records(of: "orders").compactMap { $0["id"]?.plain } == ["1"])
    }

    @Test("cascading children are deleted with their parent")
    func cascade() async throws {
        let harness = try Harness(
            TestSchema.repairminder(),
            [
                "tickets": [#"{"id":"t"}"#],
                "ticket_messages": [#"{"id":"m","ticket_id":"t"}"#, #"{"id":"n","ticket_id":"u"}"#],
            ])
        try harness.upstream.delete("tickets", "t")
        #expect(harness.upstream.records(of: "ticket_messages").map { $0["id"] } == ["n"])
    }

    @Test("every call but the probe needs the token, if one is set")
    func token() async throws {
        let harness = try shop { $0.token = "s3cret" }
        #expect(try await harness.get("/api/health").status == 200)
        for headers in [[], [("Authorization", "Bearer wrong")], [("Authorization", "Basic s3cret")]] {
            let reply = try await harness.get("/api/orders", headers)
            #expect(reply.status == 401)
            #expect(reply.header("WWW-Authenticate") == "Bearer")
        }
        #expect(try await harness.get("/api/orders", [("authorization", "bearer s3cret")]).status == 200)
    }

    @Test("the account call returns the account")
    func account() async throws {
        #expect(try await shop { $0.account = "acme" }.get("/api/auth/me").at("data.company.id") == "acme")
    }
}

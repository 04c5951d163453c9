import EntitySchema
import JSONText
import ReferenceUpstream
import Testing

@Suite("The live shape")
struct LiveShapeTests {
    private func shop() throws -> Harness {
        try Harness(
            TestSchema.live(),
            [
                "clients": [
                    #"{"id":"c1","email":"a@example.org","first_name":"Ada","last_name":"L","phone":null}"#,
                    #"{"id":"c2","email":"b@example.org","first_name":"Bo","last_name":"M","phone":"1"}"#,
                ],
                "orders": [
                    #"{"id":"o1","order_number":"1","client":{"id":"c1","first_name":"Ada"},"updated_at":"2023-01-01T00:00:00Z"}"#,
                    #"{"id":"o2","order_number":2,"client":{"id":"c2"},"location":{"id":"l","name":"Main"},"updated_at":"2023-01-03T00:00:00Z"}"#,
                    #"{"id":"o3","order_number":3,"client":{"id":"c1"},"updated_at":"2023-01-02T00:00:00Z"}"#,
                ],
                "devices": [
                    #"{"id":"d1","order_id":"o1","status":"diagnosing","workflow_type":"repair","custom_brand":"A"}"#
                ],
                "tickets": [#"{"id":"t1","status":"open","updated_at":"2023-01-01T00:00:00Z"}"#],
                "ticket_messages": [#"{"id":"m1","ticket_id":"t1","type":"inbound","body_text":"Hello"}"#],
            ]
        ) {
            $0.workflows = LiveShopGenerator.workflows
            $0.shape = .repairMinder
        }
    }

    @Test("a write moves the change time where the record has it")
    func changeTimePlace() async throws {
        let order = #"{"id":"o1","dates":{"updated_at":"2023-01-01T00:00:00.000Z"}}"#
        let harness = try Harness(TestSchema.live(), ["orders": [order]])
        let time = try harness.at("2023-05-05T05:05:05Z")
        _ = try await harness.send("PATCH", "/api/orders/o1", #"{"carrier":"Post"}"#)
        let record = try await harness.get("/api/orders/o1")
        #expect(try record.at("data.dates.updated_at").string == time.description)
        #expect(try record.at("data")["updated_at"] == nil)
    }

    @Test("each entity's records are in their own place")
    func places() async throws {
        let harness = try shop()
        #expect(try await harness.get("/api/orders").column("id") == ["o1", "o2", "o3"])
        #expect(try await harness.get("/api/clients").column("id", of: "data.clients") == ["c1", "c2"])
        #expect(try await harness.get("/api/clients").at("data.pagination.total") == 2)
        #expect(try await harness.get("/api/tickets").column("id", of: "data.tickets") == ["t1"])
        #expect(try await harness.get("/api/tickets").at("data.total") == 1)
        #expect(try await harness.get("/api/tickets").at("data.totalPages") == 1)
        #expect(try await harness.get("/api/tickets?page=2").at("data.total_pages") == 1)
    }

    @Test("the latest change comes first when that order is requested")
    func newestFirst() async throws {
        let times = [("t1", "2023-01-01"), ("t2", "2023-01-03"), ("t3", "2023-01-02")]
        let harness = try Harness(
            TestSchema.live(),
            ["tickets": times.map { #"{"id":"\#($0)","status":"open","updated_at":"\#($1)T00:00:00Z"}"# }]
        ) { $0.shape = .repairMinder }
        func keys(_ query: String) async throws -> [String] {
            try await harness.get("/api/tickets\(query)").column("id", of: "data.tickets")
        }
        #expect(try await keys("") == ["t1", "t2", "t3"])
        let query = "?sort_by=updated_at&sort_order=desc"
        #expect(try await keys(query) == ["t2", "t3", "t1"])
        #expect(try await keys("\(query)&limit=1&page=2") == ["t3"])
        try harness.at("2023-01-04T00:00:00Z")
        _ = try await harness.send("PATCH", "/api/tickets/t1", #"{"status":"pending"}"#)
        #expect(try await keys(query) == ["t1", "t2", "t3"])
        try harness.upstream.delete("tickets", "t2")
        #expect(try await keys(query) == ["t1", "t3"])
    }

    @Test("a filter works on nested values too")
    func filters() async throws {
        #expect(try await shop().get("/api/orders?client_id=c1").column("id") == ["o1", "o3"])
    }

    @Test("a new order needs what the service needs, and answers its numbers alone")
    func newOrder() async throws {
        let harness = try shop()
        let lacking = try await harness.send("POST", "/api/orders", #"{"client_email":"b@example.org"}"#)
        #expect(lacking.status == 400 && lacking.text.contains("client_first_name is required"), "\(lacking.text)")
        let order =
            #"{"client_email":"b@example.org","client_first_name":"Bo","intake_method":"walk_in","signature":{"typed_name":"Bo"}}"#
        let made = try await harness.send("POST", "/api/orders", order).at("data")
        #expect(made.members.map(\.key) == ["id", "order_number", "ticket_id"])
        let unknown = try await harness.send("POST", "/api/orders", #"{"client_id":"c2",\#(order.dropFirst())"#)
        #expect(unknown.status == 400 && unknown.text.contains("unknown field client_id"))
    }

    @Test("a new order is for the client with its email address, and comes with a ticket, a note and a signature")
    func booking() async throws {
        let harness = try shop()
        for email in ["b@example.org", "new@example.org", "new@example.org"] {
            let order = #"""
                {"client_email":"\#(email)","client_first_name":"Bo","client_last_name":"N","city":"Leeds",
                 "intake_method":"walk_in","notes":"Wet","signature":{"typed_name":"Bo N","terms_agreed":true}}
                """#
            let answer = try await harness.send("POST", "/api/orders", order)
            let id = try #require(try answer.json().at(path: "data.id")?.plain, "\(answer.text)")
            let made = try await harness.get("/api/orders/\(id)").at("data")
            #expect(made.at(path: "client.email")?.plain == email)
            #expect(made["signatures"]?.elements.map { $0["typed_name"] } == ["Bo N"])
            let ticket = try await harness.get("/api/tickets/\(made["ticket_id"]?.plain ?? "")").at("data")
            #expect(ticket.at(path: "order.id")?.plain == id && ticket.at(path: "client.name") == "Bo N")
            #expect(ticket["messages"]?.elements.map { $0["body_text"] } == ["Wet"])
        }
        let clients = harness.upstream.records(of: "clients")
        #expect(clients.map { $0["email"] } == ["a@example.org", "b@example.org", "new@example.org"])
        #expect(clients.last?["city"] == "Leeds" && clients.last?["notes"] == nil)
        let again = try await harness.send("POST", "/api/clients", #"{"email":"new@example.org"}"#)
        #expect(again.status == 409, "\(again.text)")
    }

    @Test("totals and dates stand elsewhere in the single order than in lists")
    func views() async throws {
        let harness = try shop()
        let listed = try #require(try await harness.get("/api/orders").at("data").elements.first)
        #expect(listed["updated_at"] == "2023-01-01T00:00:00Z" && listed["dates"] == nil)
        let single = try await harness.get("/api/orders/o1").at("data")
        #expect(single["updated_at"] == nil && single.at(path: "dates.updated_at") == "2023-01-01T00:00:00Z")
        #expect(single["items"]?.elements.isEmpty == true && listed["items"] == nil)
        #expect(try await harness.get("/api/devices").at("data").elements.first?["custom_brand"] == nil)
        #expect(try await harness.get("/api/orders/o1/devices/d1").at("data.custom_brand") == "A")
    }

    @Test("a written id becomes the object that other records have with it")
    func nestedThing() async throws {
        let harness = try shop()
        let known = try await harness.send("PATCH", "/api/orders/o1", #"{"location_id":"l"}"#)
        #expect(try known.at("data.location").text == #"{"id":"l","name":"Main"}"#)
        let unknown = try await harness.send("PATCH", "/api/orders/o1", #"{"location_id":"z"}"#)
        #expect(try unknown.at("data.location").text == #"{"id":"z"}"#)
        let none = try await harness.send("PATCH", "/api/orders/o1", #"{"location_id":null}"#)
        #expect(try none.at("data.location") == .null)
    }

    @Test("a single ticket contains its messages, a listed one does not")
    func embedded() async throws {
        let harness = try shop()
        #expect(try await harness.get("/api/tickets/t1").column("id", of: "data.messages") == ["m1"])
        #expect(try await harness.get("/api/tickets").at("data.tickets").elements.first?["messages"] == nil)
    }

    @Test("a note is internal and a reply is not, and both move their ticket")
    func messages() async throws {
        let harness = try shop()
        let time = try harness.at("2023-02-02T02:02:02Z")
        let note = try await harness.send("POST", "/api/tickets/t1/note", #"{"body":"n"}"#).at("data")
        let reply = try await harness.send(
            "POST", "/api/tickets/t1/reply", #"{"html_body":"<div>r</div>","text_body":"r"}"#
        ).at("data")
        #expect(note["type"] == "note" && note["body"] == "n" && note["body_text"] == nil)
        #expect(reply["type"] == "outbound" && reply["message_id"] != nil && reply["id"] == nil)
        #expect(try await harness.send("POST", "/api/tickets/t1/reply", #"{"text_body":"r"}"#).status == 400)
        #expect(
            try await harness.get("/api/tickets/t1").column("body_text", of: "data.messages") == ["Hello", "n", "r"])
        #expect(harness.upstream.record("tickets", "t1")?["updated_at"]?.plain == time)
    }

    @Test("a device is reachable only below its own order")
    func devices() async throws {
        let harness = try shop()
        #expect(try await harness.get("/api/orders/o1/devices/d1").at("data.id") == "d1")
        let stray = try await harness.get("/api/orders/o2/devices/d1")
        #expect(stray.status == 404, "\(stray.text)")
        let made = try await harness.send("POST", "/api/orders/o2/devices", #"{"custom_brand":"Apple"}"#).at("data")
        #expect(made.members.map(\.key) == ["id"])
        #expect(harness.upstream.record("devices", made["id"]?.plain ?? "")?["order_id"] == "o2")
        #expect(try await harness.send("DELETE", "/api/orders/o1/devices/d1").status == 200)
        #expect(harness.upstream.record("devices", "d1") == nil)
    }

    @Test("a status is changed by its own path, other fields by theirs")
    func split() async throws {
        let harness = try shop()
        let path = "/api/orders/o1/devices/d1"
        #expect(try await harness.send("PATCH", path, #"{"diagnosis_notes":"lint"}"#).status == 200)
        #expect(try await harness.send("PATCH", path, #"{"status":"ready_to_quote"}"#).status == 400)
        #expect(try await harness.send("PATCH", "\(path)/status", #"{"diagnosis_notes":"lint"}"#).status == 400)
        #expect(try await harness.send("PATCH", "\(path)/status", #"{"status":"ready_to_quote"}"#).status == 200)
        #expect(harness.upstream.record("devices", "d1")?["status"] == "ready_to_quote")
    }

    @Test("a transition outside the workflow is refused with 400 and changes nothing")
    func workflow() async throws {
        let harness = try shop()
        let path = "/api/orders/o1/devices/d1/status"
        let reply = try await harness.send("PATCH", path, #"{"status":"collected"}"#)
        #expect(reply.status == 400)
        #expect(try reply.at("success") == false)
        #expect(try reply.at("code") == "INVALID_TRANSITION")
        #expect(
            try reply.at("error")
                == "status cannot go from diagnosing to collected; it may become ready_to_quote")
        #expect(harness.upstream.record("devices", "d1")?["status"] == "diagnosing")
        #expect(try await harness.send("PATCH", path, #"{"status":"diagnosing"}"#).status == 200)
    }

    @Test("a ticket is changed by one call and reassigned by another")
    func tickets() async throws {
        let harness = try shop()
        #expect(
            try await harness.send("PATCH", "/api/tickets/t1", #"{"status":"resolved"}"#).at("data.status")
                == "resolved")
        let reassigned = try await harness.send("POST", "/api/tickets/t1/reassign", #"{"assigned_user_id":"u"}"#)
        #expect(try reassigned.at("data.assigned_user_id") == "u")
        #expect(try await harness.send("PATCH", "/api/tickets/t1", #"{"priority":"high"}"#).status == 400)
    }
}

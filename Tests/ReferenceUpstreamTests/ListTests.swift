import JSONText
import ReferenceUpstream
import Testing

@Suite("Lists")
struct ListTests {
    private func shop(_ count: Int) throws -> Harness {
        let orders = (1...count).map { number in
            #"{"id":"o\#(number)","status":"\#(number % 3 == 0 ? "ready" : "booked_in")","client_id":"c\#(number % 2)"}"#
        }
        return try Harness(TestSchema.repairminder(), ["orders": orders])
    }

    @Test("a list returns its records and their total")
    func envelope() async throws {
        let reply = try await shop(5).get("/api/orders?page=2&limit=2")
        #expect(reply.status == 200)
        #expect(reply.header("Content-Type") == "application/json")
        #expect(try reply.column("id") == ["o3", "o4"])
        #expect(try reply.at("success") == true)
        #expect(try reply.at("pagination").text == #"{"page":2,"limit":2,"total":5,"total_pages":3}"#)
    }

    @Test("the pages have every record once, in the order of arrival", arguments: [1, 3, 7, 20, 100])
    func pages(_ size: Int) async throws {
        let harness = try shop(20)
        var ids: [String] = []
        for page in 1...20 { ids += try await harness.get("/api/orders?page=\(page)&limit=\(size)").column("id") }
        #expect(ids == (1...20).map { "o\($0)" })
    }

    @Test("a page after the last is empty, however far")
    func beyond() async throws {
        let harness = try shop(3)
        for page in ["2", "999", "\(Int.max)"] {
            let reply = try await harness.get("/api/orders?page=\(page)&limit=500")
            #expect(try reply.at("data").text == "[]")
            #expect(try reply.at("pagination.total") == 3)
        }
    }

    @Test("an empty list has no pages")
    func empty() async throws {
        let reply = try await Harness(TestSchema.repairminder()).get("/api/clients")
        #expect(try reply.at("pagination").text == #"{"page":1,"limit":500,"total":0,"total_pages":0}"#)
    }

    @Test("a list is filtered by any field, and by several at once")
    func filters() async throws {
        let harness = try shop(12)
        #expect(try await harness.get("/api/orders?status=ready").column("id") == ["o3", "o6", "o9", "o12"])
        #expect(try await harness.get("/api/orders?status=ready&client_id=c0").column("id") == ["o6", "o12"])
        #expect(try await harness.get("/api/orders?status=ready&limit=1&page=4").at("pagination.total") == 4)
        #expect(try await harness.get("/api/orders?status=gone").at("data").text == "[]")
        #expect(try await harness.get("/api/orders?unheard_of=1").at("pagination.total") == 12)
    }

    @Test("a filter follows writes after its first use")
    func filtersFollow() async throws {
        let harness = try shop(6)
        _ = try await harness.get("/api/orders?status=ready")
        try harness.upstream.update("orders", "o1", with: JSONText(parsing: #"{"status":"ready"}"#))
        try harness.upstream.update("orders", "o3", with: JSONText(parsing: #"{"status":"collected"}"#))
        try harness.upstream.delete("orders", "o6")
        try harness.upstream.create(
            JSONText(parsing: #"{"id":"o7","status":"ready","client_id":"c1"}"#), in: "orders")
        #expect(try await harness.get("/api/orders?status=ready").column("id") == ["o1", "o7"])
        #expect(try await harness.get("/api/orders?status=collected").column("id") == ["o3"])
    }

    @Test("a filter's value is decoded")
    func decoded() async throws {
        let harness = try Harness(
            TestSchema.repairminder(), ["clients": [#"{"id":"1","company":"Lowther & Sons"}"#, #"{"id":"2"}"#]])
        #expect(try await harness.get("/api/clients?company=Lowther+%26%20Sons").column("id") == ["1"])
        #expect(try await harness.get("/api/clients?company=%zz").status == 400)
    }

    @Test("numbers, escapes, key order and duplicate keys are returned byte for byte")
    func bytes() async throws {
        let record =
            #"{"total":129.90,"id":"a\u0062/\/","big":123456789012345678901234567890,"x":1e-400,"x":2, "n" : [ 1.0 ]}"#
        let harness = try Harness(TestSchema.repairminder(), ["orders": [record]])
        #expect(try await harness.get("/api/orders").at("data").text == "[\(record)]")
        #expect(try await harness.get("/api/orders/ab%2F%2F").at("data").text == record)
    }

    @Test("a record without a key appears only in lists")
    func keyless() async throws {
        let harness = try Harness(TestSchema.repairminder(), ["orders": [#"{"status":"ready"}"#, #"{"id":"b"}"#]])
        #expect(try await harness.get("/api/orders").column("id") == ["–", "b"])
        #expect(try await harness.get("/api/orders/b").status == 200)
    }

    @Test("a page size above the limit is reduced to it, and the response shows that")
    func largest() async throws {
        let reply = try await shop(3).get("/api/orders?limit=1000000")
        #expect(try reply.at("pagination.limit") == 1000)
    }

    @Test(
        "an invalid page, size or time is refused",
        arguments: ["page=0", "page=x", "page=", "limit=-1", "limit=1.5", "updated_since=yesterday"])
    func refused(_ query: String) async throws {
        let reply = try await shop(1).get("/api/orders?\(query)")
        #expect(reply.status == 400)
        #expect(try reply.at("code") == "invalid_parameter")
    }

    @Test("a detail list has the parent's children only, and is paged the same way")
    func details() async throws {
        let messages = (1...5).map { #"{"id":"m\#($0)","ticket_id":"t\#($0 % 2)","content":"x"}"# }
        let harness = try Harness(
            TestSchema.repairminder(), ["tickets": [#"{"id":"t0"}"#, #"{"id":"t1"}"#], "ticket_messages": messages])
        #expect(try await harness.get("/api/tickets/t0/messages").column("id") == ["m2", "m4"])
        let second = try await harness.get("/api/tickets/t1/messages?limit=2&page=2")
        #expect(try second.column("id") == ["m5"])
        #expect(try second.at("pagination").text == #"{"page":2,"limit":2,"total":3,"total_pages":2}"#)
        #expect(try await harness.get("/api/tickets/none/messages").status == 404)
    }
}

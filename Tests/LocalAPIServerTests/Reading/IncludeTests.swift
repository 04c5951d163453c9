import CacheStore
import JSONText
import TestSupport
import Testing

@Suite("Related records within records")
struct IncludeTests {
    private func filled() async throws -> TestAPI {
        let api = try await TestAPI.filled()
        let messages =
            #"[{"id":"m1","order_id":"a","text":"one"},{"id":"m2","order_id":"a","text":"two","order":"the upstream's"},"#
            + #"{"id":"m3","order_id":"gone","text":"three"}]"#
        _ = try await api.store.apply(PulledPage(entity: "messages", records: messages), at: TestAPI.now)
        return api
    }

    private func ids(_ list: JSONText?) -> [String] { list?.elements.compactMap { $0["id"]?.string } ?? [] }

    @Test("a to-many relation is a list, empty where there are none, in each record of a list")
    func many() async throws {
        let answer = try await filled().call("GET", "/v1/orders?include=messages")
        let records = answer.json["data"]?.elements ?? []
        #expect(records.map { ids($0.at(path: "_include.messages")) } == [["m1", "m2"], []])
        #expect(records.first?.at(path: "_include.messages")?.elements.first?.at(path: "_sync.state") == "synced")
    }

    @Test("a to-one relation is the record or null, beside an upstream field of the same name")
    func one() async throws {
        let api = try await filled()
        let two = await api.call("GET", "/v1/messages/m2?include=order").json
        #expect(two["order"]?.string == "the upstream's")
        #expect(two.at(path: "_include.order.total")?.text == "129.90")
        let three = await api.call("GET", "/v1/messages/m3?include=order").json
        #expect(three.at(path: "_include.order") == .null)
    }

    @Test("relations nest by dots, and common parts of paths are included once")
    func nested() async throws {
        let answer = try await filled().call(
            "GET", "/v1/orders/a?include=messages.order,messages.order.messages,messages")
        let messages = answer.json.at(path: "_include.messages")?.elements ?? []
        #expect(messages.map { $0.at(path: "_include.order.id")?.string } == ["a", "a"])
        #expect(ids(messages.first?.at(path: "_include.order._include.messages")) == ["m1", "m2"])
        #expect(answer.json["_include"]?.members.map(\.key) == ["messages"])
    }

    @Test("the list of a relation accepts include too, together with filters, fields, limit and cursor")
    func lists() async throws {
        let api = try await filled()
        let messages = await api.call("GET", "/v1/orders/a/messages?include=order&limit=1&fields=text").json
        #expect(messages["data"]?.elements.map { $0.at(path: "_include.order.id")?.string } == ["a"])
        let cursor = try #require(messages["next"]?.string)
        let next = await api.call("GET", "/v1/orders/a/messages?include=order&limit=1&cursor=\(cursor)").json
        #expect(ids(next["data"]) == ["m2"])
        let several = await api.call("GET", "/v1/orders?status=open,ready&include=messages&count=true").json
        #expect(several["total"]?.integer == 2)
    }

    @Test(
        "an invalid include gets 400 and a hint at what is valid",
        arguments: [
            ("client", "messages"), ("messages.order.messages.order", "at most 3"), ("messages.", "order"),
            ("status", "messages"),
        ])
    func refused(_ path: String, _ hint: String) async throws {
        let answer = try await filled().call("GET", "/v1/orders?include=\(path)")
        #expect(answer.status == 400)
        #expect(answer.json["detail"]?.string?.contains(hint) == true)
        #expect(answer.json["errors"]?.elements.first?["field"]?.string == "include")
    }

    @Test("more than a thousand children are truncated, and the cursor continues there")
    func cut() async throws {
        let api = try await filled()
        let more = (0..<1200).map { JSONText.object(["id": .string("x\($0)"), "order_id": "b", "text": "t"]) }
        _ = try await api.store.apply(
            PulledPage(entity: "messages", records: JSONText.array(more).text), at: TestAPI.now)
        let order = await api.call("GET", "/v1/orders/b?include=messages").json
        let shown = ids(order.at(path: "_include.messages"))
        #expect(shown.count == 1000)
        let cursor = try #require(order.at(path: "_include._next.messages")?.string)
        let rest = await api.call("GET", "/v1/orders/b/messages?limit=1000&cursor=\(cursor)").json
        #expect(Set(shown + ids(rest["data"])).count == 1200)
        #expect(ids(rest["data"]).count == 200)
        // An include within each of a thousand records could return a million.
        let tooMany = await api.call("GET", "/v1/orders/b/messages?limit=1000&include=order.messages")
        #expect(tooMany.status == 400)
        #expect(tooMany.json["detail"]?.string?.contains("10000") == true)
    }

    private static let large = String(repeating: "x", count: 2_200_000)

    private func withLargeMessages(_ keys: [(id: String, order: String)]) async throws -> TestAPI {
        let api = try await TestAPI.filled()
        let messages = keys.map { #"{"id":"\#($0.id)","order_id":"\#($0.order)","text":"\#(Self.large)"}"# }
        let page = PulledPage(entity: "messages", records: "[\(messages.joined(separator: ","))]")
        _ = try await api.store.apply(page, at: TestAPI.now)
        return api
    }

    @Test("a page ends where its included records are large, and the cursor continues there")
    func largePage() async throws {
        let api = try await withLargeMessages([("m1", "a"), ("m2", "b")])
        let first = await api.call("GET", "/v1/orders?include=messages").json
        #expect(ids(first["data"]) == ["a"])
        #expect(ids(first["data"]?.elements.first?.at(path: "_include.messages")) == ["m1"])
        let cursor = try #require(first["next"]?.string)
        let second = await api.call("GET", "/v1/orders?include=messages&cursor=\(cursor)").json
        #expect(ids(second["data"]) == ["b"] && second["next"]?.string == nil)
    }

    @Test("a record that is included in many counts each time")
    func largeOne() async throws {
        let api = try await filled()
        let order = #"[{"id":"a","notes":"\#(Self.large)"}]"#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: order), at: TestAPI.now)
        let page = await api.call("GET", "/v1/messages?include=order&order_id=a").json
        #expect(page["data"]?.elements.count == 1 && page["next"]?.string != nil)
    }

    @Test("the children of one record end where they are large, and the cursor continues there")
    func largeChildren() async throws {
        let api = try await withLargeMessages([("m1", "b"), ("m2", "b"), ("m3", "b")])
        let order = await api.call("GET", "/v1/orders/b?include=messages").json
        let shown = ids(order.at(path: "_include.messages"))
        #expect(shown.count == 2)
        let cursor = try #require(order.at(path: "_include._next.messages")?.string)
        let rest = await api.call("GET", "/v1/orders/b/messages?cursor=\(cursor)&fields=id").json
        #expect(Set(shown + ids(rest["data"])) == ["m1", "m2", "m3"] && ids(rest["data"]).count == 1)
    }

    @Test("a deleted child is not shown, a changed one is, with its state")
    func pending() async throws {
        let api = try await filled()
        let created = await api.call("POST", "/v1/orders/b/messages", body: #"{"text":"new"}"#)
        let order = await api.call("GET", "/v1/orders/b?include=messages").json
        #expect(ids(order.at(path: "_include.messages")) == [created.json["id"]?.string])
        #expect(
            order.at(path: "_include.messages")?.elements.first?.at(path: "_sync.state")?.string == "pending")
    }
}

import CacheStore
import JSONText
import TestSupport
import Testing
import Upstream

@Suite("The record of a relation to one")
struct RelatedRecordTests {
    /// Message `m` belongs to order `a`, `n` to none, and `o` to an order that is not cached.
    private func filled(upstream: any Upstream = AbsentUpstream()) async throws -> TestAPI {
        let api = try await TestAPI.filled(upstream: upstream)
        let messages =
            #"[{"id":"m","order_id":"a","text":"one"},{"id":"n","order_id":null,"text":"two"},"#
            + #"{"id":"o","order_id":"z","text":"three"}]"#
        _ = try await api.store.apply(PulledPage(entity: "messages", records: messages), at: TestAPI.now)
        return api
    }

    @Test("it is the record itself, byte for byte as its own address answers, with its tag")
    func same() async throws {
        let api = try await filled()
        for query in ["", "?include=messages&labels=true", "?fields=total&server=true", "?refresh=false"] {
            let related = await api.call("GET", "/v1/messages/m/order\(query)")
            let own = await api.call("GET", "/v1/orders/a\(query)")
            #expect(related.status == 200 && related.text == own.text, "\(query)")
            #expect(related.header("ETag") == own.header("ETag") && related.header("ETag") != nil)
        }
    }

    @Test("its tag works as a condition")
    func conditions() async throws {
        let api = try await filled()
        let tag = try #require(await api.call("GET", "/v1/messages/m/order").header("ETag"))
        let same = await api.call("GET", "/v1/messages/m/order", headers: ["If-None-Match": tag])
        #expect(same.status == 304 && same.header("ETag") == tag)
        #expect(await api.call("GET", "/v1/messages/m/order", headers: ["If-Match": "\"0\""]).status == 412)
        let change = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#, headers: ["If-Match": tag])
        #expect(change.status == 200)
        #expect(await api.call("GET", "/v1/messages/m/order", headers: ["If-None-Match": tag]).status == 200)
    }

    @Test("a record that refers to none has none, and the message says so")
    func none() async throws {
        let answer = try await filled().call("GET", "/v1/messages/n/order")
        #expect(answer.status == 404 && answer.json["code"] == "not_found")
        #expect(answer.json["detail"] == "messages/n has no order; its order_id is empty")
    }

    @Test("a record that is not cached is read from the upstream, or gets the codes of its own address")
    func notCached() async throws {
        let order = JSONText.object(["id": "z", "status": "open"])
        let fetched = try await filled(upstream: OneRecordUpstream(["orders/z": order]))
        let answer = await fetched.call("GET", "/v1/messages/o/order")
        #expect(answer.status == 200 && answer.json["id"] == "z")
        #expect(answer.header("Cache-Status") == "repairminder-sync; fwd=miss; fwd-status=200; stored")
        let absent = try await filled(upstream: OneRecordUpstream()).call("GET", "/v1/messages/o/order")
        #expect(absent.status == 404 && absent.json["code"] == "not_found")
        let api = try await filled()
        let unreachable = await api.call("GET", "/v1/messages/o/order")
        #expect(unreachable.status == 404 && unreachable.json["code"] == "not_cached")
        #expect(unreachable.header("Retry-After") != nil)
        let forbidden = await api.call("GET", "/v1/messages/o/order", headers: ["Cache-Control": "only-if-cached"])
        #expect(forbidden.status == 504 && forbidden.json["code"] == "only_if_cached")
    }

    @Test("refresh=true asks the upstream for the related record first")
    func refreshed() async throws {
        let upstream = OneRecordUpstream(["orders/a": .object(["id": "a", "status": "open", "total": 7])])
        let answer = try await filled(upstream: upstream).call("GET", "/v1/messages/m/order?refresh=true")
        #expect(answer.json["total"]?.integer == 7 && upstream.asked == ["orders/a"])
    }

    @Test("a missing first record, a wrong parameter and one of lists are refused")
    func refused() async throws {
        let api = try await filled()
        #expect(await api.call("GET", "/v1/messages/x/order").json["code"] == "not_cached")
        let answer = await api.call("GET", "/v1/messages/n/order?limit=1&labels=perhaps&include=client&fields=colour")
        #expect(answer.status == 400)
        let fields = answer.json["errors"]?.elements.map { $0["field"]?.string }
        #expect(fields == ["limit", "include", "labels", "fields"])
    }

    @Test("the description has it as a record, a relation to many as a list")
    func described() async throws {
        let paths = await (try filled()).call("GET", "/openapi.json").json["paths"]
        let one = paths?["/v1/messages/{id}/order"]?["get"]
        #expect(one?["operationId"] == "getOrderOfMessage")
        let schema = one?["responses"]?["200"]?["content"]?["application/json"]?.at(path: "schema")?["$ref"]
        #expect(schema == "#/components/schemas/orders.record")
        #expect(one?["parameters"] == paths?["/v1/orders/{id}"]?["get"]?["parameters"])
        #expect(paths?["/v1/orders/{id}/messages"]?["get"]?["operationId"] == "listMessagesOfOrder")
    }
}

import CacheStore
import EntitySchema
import JSONText
import SQLiteStore
import Testing

@testable import LocalAPIServer

@Suite("Writes that are refused, over HTTP")
struct WriteErrorTests {
    @Test("a related record can be created under a parent by an old key, and under one not yet sent")
    func related() async throws {
        try await ServedAPI.serving { api in
            _ = try await api.call("POST", "/v1/orders", #"{"id":"old"}"#)
            #expect(try await api.call("POST", "/v1/orders/old/messages", #"{"text":"unsent"}"#).status == 201)
            #expect(try api.store.readyChanges(limit: 9, at: TestAPI.now).map(\.id) == [1])
            try await api.attempt(.acknowledged(record: .object(["id": "new"])))
            let made = try await api.call("POST", "/v1/orders/old/messages", #"{"text":"later"}"#)
            #expect(made.status == 201 && made.json["order_id"] == "new")
            let same = try await api.call("POST", "/v1/orders/old/messages", #"{"text":"x","order_id":"old"}"#)
            #expect(same.status == 201 && same.json["order_id"] == "new")
            let plain = try await api.call("POST", "/v1/messages", #"{"text":"x","order_id":"old"}"#)
            #expect(plain.json["order_id"] == "new")
            let list = try await api.call("GET", "/v1/orders/old/messages").json["data"]?.elements
            #expect(list?.count == 4)
        }
    }

    @Test("a related record with another parent in its body gets 422, one of a missing parent 404")
    func contradiction() async throws {
        try await ServedAPI.serving { api in
            for other in ["\"b\"", "null", "7"] {
                let answer = try await api.call(
                    "POST", "/v1/orders/a/messages", #"{"text":"x","order_id":\#(other)}"#)
                #expect(answer.status == 422 && answer.fields == ["order_id"])
            }
            let missing = #"{"text":"x"}"#
            #expect(try await api.call("POST", "/v1/orders/none/messages", missing).status == 404)
            _ = try await api.call("DELETE", "/v1/orders/a")
            #expect(try await api.call("POST", "/v1/orders/a/messages", missing).status == 404)
        }
    }

    @Test(
        "a new record cannot have a key that a pull would reject",
        arguments: [#""""#, "null", #""a\u0000""#, "true", "1.5", #""\#(String(repeating: "a", count: 499))""#])
    func unusableKeys(_ key: String) async throws {
        try await ServedAPI.serving { api in
            let answer = try await api.call("POST", "/v1/orders", #"{"id":\#(key)}"#)
            #expect(answer.status == 422 && answer.fields == ["id"])
        }
    }

    @Test("the longest key that a pull accepts is accepted")
    func longestKey() async throws {
        try await ServedAPI.serving { api throws in
            let key = String(repeating: "é", count: Entity.longestKey)
            #expect(try await api.call("POST", "/v1/orders", #"{"id":"\#(key)"}"#).status == 201)
            #expect(try await api.call("GET", "/v1/orders/\(Entity.percentEncoded(key))").status == 200)
        }
    }

    @Test("a method that a path does not have gets 405 and Allow")
    func methods() async throws {
        try await ServedAPI.serving { api in
            _ = try await api.call("POST", "/v1/orders/a/messages", #"{"id":"m","text":"x"}"#)
            for (method, target, allowed) in [
                ("POST", "/v1/messages/m/order", "GET, HEAD"),
                ("POST", "/v1/orders/a", "GET, HEAD, PATCH, DELETE, PUT"),
                ("PATCH", "/v1/messages/m", "GET, HEAD"), ("DELETE", "/v1/orders", "GET, HEAD, POST"),
                ("PUT", "/v1/pending/1", "GET, HEAD, PATCH, DELETE"), ("GET", "/v1/pending/1/retry", "POST"),
                ("PATCH", "/v1/orders/a/messages", "GET, HEAD, POST"), ("POST", "/v1/status", "GET, HEAD"),
            ] {
                let answer = try await api.call(method, target, "{}")
                #expect(answer.status == 405 && answer.header("Allow") == "\(allowed), OPTIONS", "\(method) \(target)")
            }
        }
    }

    @Test("405 says whether the schema or the address is the reason")
    func reasons() async throws {
        try await ServedAPI.serving { api in
            for (method, target, detail) in [
                (
                    "PATCH", "/v1/messages/m",
                    "the schema cannot update records of messages; this address takes GET, HEAD"
                ),
                (
                    "DELETE", "/v1/orders",
                    "DELETE needs the id of a record: /v1/orders/{id}; this address takes GET, HEAD, POST"
                ),
                (
                    "PATCH", "/v1/messages",
                    "the schema cannot update records of messages; this address takes GET, HEAD, POST"
                ),
                ("PURGE", "/v1/orders", "this address takes GET, HEAD, POST"),
                ("POST", "/v1/orders/a", "this address takes GET, HEAD, PATCH, DELETE, PUT"),
            ] {
                let refused = try await api.call(method, target, "{}")
                #expect(refused.json["detail"]?.string == detail, "\(method) \(target)")
            }
        }
    }

    @Test("a full disk is a fault to log, and what a caller can correct is none")
    func faults() {
        #expect(CacheError.unwritable("the disk is full").fault == "the disk is full")
        #expect(CacheError.failed("x").fault == "x")
        #expect(CacheError.conflict("x").fault == nil && CacheError.notFound("x").fault == nil)
    }

    @Test("all bad fields are reported at once, each with what is allowed")
    func fields() async throws {
        try await ServedAPI.serving { api in
            let answer = try await api.call(
                "POST", "/v1/orders", #"{"status":"lost","total":"1","notes":7,"staus":"open","client_id":{}}"#)
            #expect(answer.status == 422)
            #expect(answer.header("Content-Type") == "application/problem+json")
            #expect(answer.fields == ["status", "total", "notes", "staus", "client_id"])
            #expect(answer.text.contains("expected one of open, ready, got \\\"lost\\\""))
            #expect(answer.text.contains("did you mean status?"))
            let near = try await api.call("PATCH", "/v1/orders/a", #"{"status":"redy"}"#)
            #expect(near.text.contains("got \\\"redy\\\"; did you mean ready?"))
            let empty = try await api.call("POST", "/v1/messages", "{}")
            #expect(empty.status == 422 && empty.fields == ["order_id", "text"])
        }
    }

    @Test("a body that is not a JSON object gets 400, of another type 415, too large 413, for a missing record 404")
    func bodies() async throws {
        try await ServedAPI.serving { (api: ServedAPI) async throws in
            for body in ["", "{", "[]", "7", "{\"notes\":\"x\",}", "{\"notes\":\"\u{1}\"}"] {
                #expect(try await api.call("PATCH", "/v1/orders/a", body).status == 400, "\(body)")
            }
            for type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx"] {
                #expect(try await api.call("PATCH", "/v1/orders/a", "{}", type: type).status == 415)
            }
            let large = #"{"notes":"\#(String(repeating: "x", count: 1 << 20))"}"#
            #expect(try await api.call("PATCH", "/v1/orders/a", large).status == 413)
            for (method, target) in [
                ("PATCH", "/v1/orders/none"), ("DELETE", "/v1/orders/none"), ("POST", "/v1/order"),
                ("POST", "/v1/orders/a/devices"), ("POST", "/v1/pending/7/retry"), ("DELETE", "/v1/pending/7"),
            ] {
                #expect(try await api.call(method, target, "{}").status == 404, "\(method) \(target)")
            }
            #expect(try await api.queue().isEmpty)
        }
    }

    @Test("a key in use, or used earlier by another record, gets 409")
    func taken() async throws {
        try await ServedAPI.serving { api in
            #expect(try await api.call("POST", "/v1/orders", #"{"id":"a"}"#).status == 409)
            _ = try await api.call("POST", "/v1/orders", #"{"id":"old"}"#)
            try await api.attempt(.acknowledged(record: .object(["id": "new"])))
            #expect(try await api.call("POST", "/v1/orders", #"{"id":"old"}"#).status == 409)
        }
    }
}

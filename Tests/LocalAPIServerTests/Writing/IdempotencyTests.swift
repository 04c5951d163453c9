import CacheStore
import EntitySchema
import Foundation
import JSONText
import SQLiteStore
import SocketServer
import Testing

@testable import LocalAPIServer

@Suite("Idempotency-Key over HTTP")
struct IdempotencyTests {
    @Test("a repeated creation gets the answer of the first, and creates nothing")
    func create() async throws {
        try await ServedAPI.serving { api in
            let first = try await api.call("POST", "/v1/orders", #"{"notes":"x","total":0.10}"#, key: "k1")
            #expect(first.status == 201)
            let location = try #require(first.header("Location"))
            _ = try await api.call("PATCH", location, #"{"notes":"later"}"#)
            for key in ["k1", "\"k1\""] {
                let again = try await api.call("POST", "/v1/orders", #"{"notes":"x","total":0.10}"#, key: key)
                #expect(again.status == 201 && again.text == first.text)
                #expect(again.header("Location") == location)
                #expect(again.header("Content-Type") == "application/json")
            }
            #expect(try await api.queue().count == 1)
            let other = try await api.call("POST", "/v1/orders", #"{"notes":"x","total":0.10}"#, key: "k2")
            #expect(other.header("Location") != location)
        }
    }

    @Test("a repeated change, deletion, discard, correction and retry get the answer of the first")
    func others() async throws {
        try await ServedAPI.serving { api in
            let change = try await api.call("PATCH", "/v1/orders/a", #"{"notes":"x"}"#, key: "1")
            _ = try await api.call("PATCH", "/v1/orders/a", #"{"notes":"y"}"#)
            let repeated = try await api.call("PATCH", "/v1/orders/a", #"{"notes":"x"}"#, key: "1")
            #expect(repeated.status == 200 && repeated.text == change.text)
            #expect(try await api.call("GET", "/v1/orders/a").json["notes"] == "y")
            try await api.attempt(ServedAPI.refusal)
            let correction = try await api.call("PATCH", "/v1/pending/1", #"{"notes":"z"}"#, key: "2")
            try await api.attempt(ServedAPI.refusal)
            let corrected = try await api.call("PATCH", "/v1/pending/1", #"{"notes":"z"}"#, key: "2")
            #expect(corrected.text == correction.text)
            #expect(try await api.change(1)["state"] == "failed")
            #expect(try await api.call("POST", "/v1/pending/retry", key: "3").text == #"{"retried":1}"#)
            #expect(try await api.call("POST", "/v1/pending/retry", key: "3").text == #"{"retried":1}"#)
            for _ in 1...2 { #expect(try await api.call("DELETE", "/v1/pending/1", key: "4").status == 204) }
            for _ in 1...2 { #expect(try await api.call("DELETE", "/v1/orders/a", key: "5").status == 204) }
            #expect(try await api.queue().map { $0["operation"] } == ["delete"])
        }
    }

    @Test("a key of another request gets 422: another method, path, query or body")
    func otherRequest() async throws {
        try await ServedAPI.serving { api in
            _ = try await api.call("PATCH", "/v1/orders/a", #"{"notes":"x"}"#, key: "k")
            for (method, target, body) in [
                ("PATCH", "/v1/orders/a", #"{"notes":"y"}"#), ("PATCH", "/v1/orders/b", #"{"notes":"x"}"#),
                ("POST", "/v1/orders", #"{"notes":"x"}"#), ("DELETE", "/v1/pending/1?cascade=true", nil),
            ] {
                let answer = try await api.call(method, target, body, key: "k")
                #expect(answer.status == 422 && answer.fields == ["Idempotency-Key"])
            }
            #expect(try await api.queue().count == 1)
        }
    }

    @Test("a refused request is not stored: once fixed, it may use the same key")
    func refused() async throws {
        try await ServedAPI.serving { (api: ServedAPI) async throws in
            #expect(try await api.call("PATCH", "/v1/orders/a", #"{"status":"lost"}"#, key: "k").status == 422)
            #expect(try await api.call("PATCH", "/v1/orders/a", #"{"status":"open"}"#, key: "k").status == 200)
        }
    }

    @Test("of many concurrent requests one is done, and all get the same answer")
    func atOnce() async throws {
        try await ServedAPI.serving { api in
            let answers = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 1...20 {
                    group.addTask { try await api.call("POST", "/v1/orders", #"{"notes":"x"}"#, key: "k").text }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(answers.count == 1)
            #expect(try await api.queue().count == 1)
        }
    }

    @Test("an answer stored by an older version is replayed")
    func storedByOlderVersion() async throws {
        try await ServedAPI.serving { (api: ServedAPI) async throws in
            let body = #"{"notes":"x"}"#
            let answer =
                #"{"status":201,"headers":[["Content-Type","application/json"],["ETag","\"1-2\""],"#
                + #"["Location","/v1/orders/old"]],"body":"{\"id\":\"old\",\"total\":0.10}","queued":null}"#
            let call = RepeatableCall(key: "k", request: Array("POST\n/v1/orders\n\n\(body)".utf8))
            _ = try await api.store.write(once: call, at: TestAPI.now) { _ in answer }
            let replayed = try await api.call("POST", "/v1/orders", body, key: "k")
            #expect(replayed.status == 201 && replayed.text == #"{"id":"old","total":0.10}"#)
            #expect(replayed.header("ETag") == "\"1-2\"" && replayed.header("Location") == "/v1/orders/old")
            #expect(try await api.queue().isEmpty)
        }
    }

    @Test("a stored result that cannot be read gets 503")
    func unreadable() async throws {
        try await ServedAPI.serving { (api: ServedAPI) async throws in
            let call = RepeatableCall(key: "k", request: Array("DELETE\n/v1/orders/a\n\n".utf8))
            _ = try await api.store.write(once: call, at: TestAPI.now) { _ in #"{"result":"later","queued":null}"# }
            #expect(try await api.call("DELETE", "/v1/orders/a", key: "k").status == 503)
        }
    }

    @Test("a stored result renders the same answer")
    func stored() throws {
        let shown = try #require(
            ShownRecord(
                .object(["text": #"{"id":"é","total":0.10}"#, "version": "1f", "shown_version": "ffffffffffffffff"])))
        let results: [WriteResult] = [
            .done, .record(shown), .created(shown, entity: "orders", key: "é"), .retried(3),
            .document(try JSONText(parsing: #"{"total":0.10}"#)),
            .rendered(Response(status: 200, headers: [("ETag", "\"a\"")], body: Array("{}".utf8))),
        ]
        for result in results {
            let text = Written(result: result).stored.text
            let read = try Written(stored: JSONText(parsing: text)).result.response
            #expect(read.status == result.response.status)
            #expect(read.headers.map { "\($0)" } == result.response.headers.map { "\($0)" })
            guard case .bytes(let first) = result.response.body, case .bytes(let again) = read.body else {
                throw CacheError.failed("no bytes")
            }
            #expect(first == again)
        }
    }

    @Test("a result is kept for a day")
    func pruned() async throws {
        try await ServedAPI.serving { (api: ServedAPI) async throws in
            func call(_ key: String, after seconds: Int) async throws -> String {
                try await api.store.write(
                    once: RepeatableCall(key: key, request: [1]), at: TestAPI.now + .seconds(seconds)
                ) { _ in "after \(seconds)" }
            }
            #expect(try await call("k", after: 0) == "after 0")
            #expect(try await call("other", after: 86_399) == "after 86399")
            #expect(try await call("k", after: 86_400) == "after 0")
            #expect(try await call("k", after: 86_401) == "after 86401")
        }
    }
}

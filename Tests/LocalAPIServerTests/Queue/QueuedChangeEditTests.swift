import CacheStore
import EntitySchema
import JSONText
import TestSupport
import Testing

@Suite("Correcting a queued change over HTTP")
struct QueuedChangeEditTests {
    @Test("a corrected change takes the new value, keeps the rest, and is sent under a new key")
    func corrected() async throws {
        try await ServedAPI.serving { api in
            _ = try await api.call("PATCH", "/v1/orders/a", #"{"status":"open","notes":"x"}"#)
            try await api.attempt(ServedAPI.refusal)
            let before = try await api.change(1)
            #expect(before["state"] == "failed" && before.at(path: "error.class") == "refused")
            let position = try api.store.position()
            let answer = try await api.call("PATCH", "/v1/pending/1", #"{"notes":null}"#)
            #expect(answer.status == 200)
            #expect(answer.json["body"]?.text == #"{"status":"open","notes":null}"#)
            #expect(answer.json["state"] == "queued" && answer.json["error"] == .null)
            #expect(answer.json["retry_count"] == 0)
            let key = answer.json.at(path: "request.headers.Idempotency-Key")
            #expect(key != before.at(path: "request.headers.Idempotency-Key") && key?.string?.isEmpty == false)
            #expect(try await api.call("GET", "/v1/orders/a").json["notes"] == .null)
            #expect(try api.store.position() > position)
            #expect(try api.store.readyChanges(limit: 9, at: TestAPI.now).map(\.isTried) == [false])
        }
    }

    @Test("a change never sent keeps its key; a correction without changes retries a refused one under another")
    func keptKey() async throws {
        try await ServedAPI.serving { api in
            _ = try await api.call("PATCH", "/v1/orders/a", #"{"status":"open"}"#)
            let key = try await api.change(1).at(path: "request.headers.Idempotency-Key")
            let answer = try await api.call("PATCH", "/v1/pending/1", #"{"notes":"y"}"#)
            #expect(answer.json.at(path: "request.headers.Idempotency-Key") == key)
            try await api.attempt(ServedAPI.refusal)
            let again = try await api.call("PATCH", "/v1/pending/1", "{}")
            #expect(again.json["state"] == "queued" && again.json["body"] == answer.json["body"])
            let renewed = again.json.at(path: "request.headers.Idempotency-Key")
            #expect(renewed != key && renewed?.string?.isEmpty == false)
        }
    }

    @Test("fields are checked against the schema and the change's request, with one error each")
    func invalid() async throws {
        try await ServedAPI.serving { api in
            _ = try await api.call("PATCH", "/v1/orders/a", #"{"status":"open"}"#)
            try await api.attempt(ServedAPI.refusal)
            let bad = try await api.call("PATCH", "/v1/pending/1", #"{"status":"lost","stat":1,"id":"b","rev":7}"#)
            #expect(bad.status == 422 && bad.fields == ["status", "stat", "id", "rev"])
            let other = try await api.call("PATCH", "/v1/pending/1", #"{"total":1}"#)
            #expect(other.status == 422 && other.fields == ["total"])
            #expect(try await api.call("PATCH", "/v1/pending/1", "[]").status == 400)
            #expect(try await api.change(1)["state"] == "failed")
        }
    }

    @Test("a creation keeps its required fields and its key, and accepts secrets without showing them")
    func creation() async throws {
        try await ServedAPI.serving { api in
            let text = #"{"text":"hello"}"#
            #expect(try await api.call("POST", "/v1/orders/a/messages", text).status == 201)
            try await api.attempt(ServedAPI.refusal)
            let null = try await api.call("PATCH", "/v1/pending/1", #"{"text":null,"id":"mine"}"#)
            #expect(null.status == 422 && null.fields == ["id"])
            #expect(try await api.call("PATCH", "/v1/pending/1", #"{"text":null}"#).fields == ["text"])
            #expect(try await api.call("PATCH", "/v1/pending/1?remove=text", "{}").fields == ["text"])
            let right = try await api.call("PATCH", "/v1/pending/1", #"{"text":"bye"}"#)
            #expect(right.json.at(path: "request.body")?.text == #"{"content":"bye"}"#)
            _ = try await api.call("PATCH", "/v1/orders/a", #"{"notes":"y"}"#)
            let secret = try await api.call("PATCH", "/v1/pending/2", #"{"passcode":"0815"}"#)
            #expect(secret.status == 200 && !secret.text.contains("0815"))
            #expect(secret.json.at(path: "request.body")?.text == #"{"notes":"y","passcode":"…"}"#)
            #expect(secret.json["body"]?.text == #"{"notes":"y"}"#)
        }
    }

    @Test("a field can be removed from a change, but not the last one")
    func removed() async throws {
        try await ServedAPI.serving { api in
            _ = try await api.call("PATCH", "/v1/orders/a", #"{"status":"open","notes":"x"}"#)
            try await api.attempt(ServedAPI.refusal)
            let answer = try await api.call("PATCH", "/v1/pending/1?remove=notes", "{}")
            #expect(answer.json["body"]?.text == #"{"status":"open"}"#)
            #expect(try await api.call("GET", "/v1/orders/a").json["notes"] == "n")
            #expect(try await api.call("PATCH", "/v1/pending/1?remove=notes", "{}").fields == ["notes"])
            #expect(try await api.call("PATCH", "/v1/pending/1?remove=status", "{}").status == 422)
            for names in ["", "status,", ",status"] {
                let empty = try await api.call("PATCH", "/v1/pending/1?remove=\(names)", "{}")
                #expect(empty.status == 400 && empty.fields == ["remove"], "\(names)")
            }
        }
    }

    @Test("a change being sent, and a creation that may have arrived, get 409; an unknown change gets 404")
    func notNow() async throws {
        try await ServedAPI.serving { api in
            _ = try await api.call("POST", "/v1/orders", #"{"id":"n","notes":"x"}"#)
            try await api.begin()
            let busy = try await api.call("PATCH", "/v1/pending/1", #"{"notes":"y"}"#)
            #expect(busy.status == 409 && busy.json["code"] == "busy")
            let failure = PushFailure(.timeout, message: "no answer")
            try await api.store.finish(
                1, .waiting(failure, at: TestAPI.now + .seconds(60), counted: true), at: TestAPI.now)
            let unclear = try await api.call("PATCH", "/v1/pending/1", #"{"notes":"y"}"#)
            #expect(unclear.status == 409 && unclear.json["code"] == "conflict")
            #expect(try await api.call("PATCH", "/v1/pending/7", "{}").status == 404)
            #expect(try await api.call("PATCH", "/v1/pending/x", "{}").status == 404)
        }
    }

    @Test("a creation that waits because the upstream refused it can be corrected")
    func refusedCreation() async throws {
        try await ServedAPI.serving { api in
            _ = try await api.call("POST", "/v1/orders", #"{"id":"n","notes":"x"}"#)
            try await api.begin()
            let failure = PushFailure(.throttled, status: 429, message: "too many")
            let waiting = PushOutcome.waiting(failure, at: TestAPI.now + .seconds(60), counted: false)
            try await api.store.finish(1, waiting, takingBack: true, at: TestAPI.now)
            let answer = try await api.call("PATCH", "/v1/pending/1", #"{"notes":"y"}"#)
            #expect(answer.status == 200 && answer.json["state"] == "queued")
            #expect(answer.json.at(path: "body.notes")?.string == "y")
        }
    }

    @Test("a deletion cannot be corrected")
    func deletion() async throws {
        try await ServedAPI.serving { (api: ServedAPI) async throws in
            #expect(try await api.call("DELETE", "/v1/orders/a").status == 204)
            #expect(try await api.call("PATCH", "/v1/pending/1", #"{"notes":"y"}"#).fields == ["notes"])
        }
    }

    @Test("a corrected reference waits only for the record that it now names")
    func reference() async throws {
        try await ServedAPI.serving { api in
            _ = try await api.call("POST", "/v1/clients", #"{"id":"c1","name":"Ada"}"#)
            _ = try await api.call("PATCH", "/v1/orders/a", #"{"client_id":"c1"}"#)
            try await api.attempt(ServedAPI.refusal)
            #expect(try await api.change(2)["blocked_by"] == 1)
            _ = try await api.call("POST", "/v1/clients", #"{"id":"c2","name":"Bob"}"#)
            let answer = try await api.call("PATCH", "/v1/pending/2", #"{"client_id":"c2"}"#)
            #expect(answer.json["state"] == "queued" && answer.json["blocked_by"] == .null)
            #expect(try api.store.readyChanges(limit: 9, at: TestAPI.now).map(\.id) == [3])
            try await api.attempt(.acknowledged(record: .object(["id": "c2", "name": "Bob"])))
            #expect(try api.store.readyChanges(limit: 9, at: TestAPI.now).map(\.id) == [2])
        }
    }

    @Test("a change held by a conflict can be corrected and still waits for its resolution")
    func disputed() async throws {
        try await ServedAPI.serving(conflict: "manual") { api in
            _ = try await api.call("PATCH", "/v1/orders/a", #"{"notes":"mine"}"#)
            _ = try await api.store.apply(
                PulledPage(entity: "orders", records: #"[{"id":"a","status":"ready","notes":"theirs"}]"#),
                at: TestAPI.now)
            let answer = try await api.call("PATCH", "/v1/pending/1", #"{"notes":"better"}"#)
            #expect(answer.json["state"] == "blocked" && answer.json["conflict"] == 1)
            #expect(try await api.call("GET", "/v1/conflicts/1").json["local"] == "better")
            _ = try await api.call("PATCH", "/v1/pending/1", #"{"status":"open"}"#)
            let out = try await api.call("PATCH", "/v1/pending/1?remove=notes", "{}")
            #expect(out.json["state"] == "queued" && out.json["body"]?.text == #"{"status":"open"}"#)
            #expect(try await api.call("GET", "/v1/conflicts/1").json["winner"] == "server")
        }
    }
}

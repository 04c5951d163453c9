import CacheStore
import JSONText
import TestSupport
import Testing

@Suite("Discarding over HTTP")
struct DiscardTests {
    @Test("discarding a creation names its dependents, and discards them with cascade")
    func cascade() async throws {
        try await ServedAPI.serving { api in
            _ = try await api.call("POST", "/v1/clients", #"{"id":"c","name":"Ada"}"#)
            _ = try await api.call("POST", "/v1/clients/c/orders", #"{"id":"o","notes":"new"}"#)
            _ = try await api.call("POST", "/v1/orders/o/messages", #"{"id":"m","text":"hello"}"#)
            _ = try await api.call("PATCH", "/v1/orders/a", #"{"client_id":"c"}"#)
            let refused = try await api.call("DELETE", "/v1/pending/1")
            #expect(refused.status == 409)
            #expect(refused.header("Content-Type") == "application/problem+json")
            #expect(refused.json["dependents"]?.text == "[2,3,4]")
            #expect(
                refused.json["detail"]?.string?.hasPrefix("the changes 2, 3, 4 depend on 1; discard them first") == true
            )
            #expect(try await api.queue().count == 4)
            #expect(try await api.call("DELETE", "/v1/pending/1?cascade=true").status == 204)
            #expect(try await api.queue().isEmpty)
            for path in ["clients/c", "orders/o", "messages/m"] {
                #expect(try await api.call("GET", "/v1/\(path)").status == 404)
            }
            #expect(try await api.call("GET", "/v1/orders/a").json["client_id"] == nil)
        }
    }

    @Test("nothing is discarded while one of them is being sent: the answer asks to try again")
    func uploading() async throws {
        try await ServedAPI.serving { api in
            _ = try await api.call("POST", "/v1/clients", #"{"id":"c","name":"Ada"}"#)
            _ = try await api.call("POST", "/v1/clients/c/orders", #"{"id":"o"}"#)
            try await api.begin()
            let refused = try await api.call("DELETE", "/v1/pending/1?cascade=true")
            #expect(refused.status == 409 && refused.json["code"] == "busy")
            #expect(refused.header("Retry-After") == "1")
            #expect(try await api.queue().count == 2)
        }
    }

    @Test("a later change of the same group does not depend on a discarded one, and continues")
    func group() async throws {
        try await ServedAPI.serving { api in
            for text in ["one", "two", "three"] {
                _ = try await api.call("POST", "/v1/orders/a/messages", #"{"text":"\#(text)"}"#)
            }
            try await api.attempt(ServedAPI.refusal)
            #expect(try await api.change(3)["blocked_by"] == 1)
            #expect(try await api.call("DELETE", "/v1/pending/1").status == 204)
            #expect(try api.store.readyChanges(limit: 9, at: TestAPI.now).map(\.id) == [2])
            #expect(try await api.call("DELETE", "/v1/pending/2").status == 204)
            #expect(try api.store.readyChanges(limit: 9, at: TestAPI.now).map(\.id) == [3])
        }
    }

    @Test("discarding a change that a conflict holds resolves it for the server")
    func disputed() async throws {
        try await ServedAPI.serving(conflict: "manual") { api in
            _ = try await api.call("PATCH", "/v1/orders/a", #"{"notes":"mine"}"#)
            _ = try await api.store.apply(
                PulledPage(entity: "orders", records: #"[{"id":"a","status":"ready","notes":"theirs"}]"#),
                at: TestAPI.now)
            #expect(try await api.call("DELETE", "/v1/pending/1").status == 204)
            #expect(try await api.call("GET", "/v1/orders/a").json["notes"] == "theirs")
            #expect(try await api.call("GET", "/v1/conflicts/1").json["winner"] == "server")
        }
    }

    @Test("a record that the server has deleted is removed with the last change that held it")
    func deletedThere() async throws {
        try await ServedAPI.serving(conflict: "manual") { api in
            _ = try await api.call("PATCH", "/v1/orders/a", #"{"notes":"mine"}"#)
            _ = try await api.call("PATCH", "/v1/orders/a", #"{"total":1}"#)
            try await api.attempt(.gone(PushFailure(.gone, status: 404, message: "not there")))
            #expect(try await api.queue().compactMap { $0["conflict"]?.integer } == [1])
            #expect(try await api.call("DELETE", "/v1/pending/1").status == 204)
            // The other change meets the deletion in its turn.
            #expect(try await api.call("GET", "/v1/orders/a").json.at(path: "_sync.state") == "conflict")
            #expect(try await api.call("DELETE", "/v1/pending/2").status == 204)
            #expect(try await api.call("GET", "/v1/orders/a").status == 404)
            #expect(try await api.call("GET", "/v1/conflicts?open=true").json["data"]?.elements.isEmpty == true)
        }
    }

    @Test("a record that was never sent cannot be deleted while others refer to it")
    func deleteUnsent() async throws {
        try await ServedAPI.serving { api in
            _ = try await api.call("POST", "/v1/orders", #"{"id":"o"}"#)
            _ = try await api.call("POST", "/v1/orders/o/messages", #"{"text":"hello"}"#)
            let refused = try await api.call("DELETE", "/v1/orders/o")
            #expect(refused.status == 409 && refused.json["dependents"]?.text == "[2]")
            let one = try await api.call("DELETE", "/v1/pending/1").json["detail"]?.string
            #expect(one?.hasPrefix("change 2 depends on 1; discard it first") == true)
            #expect(try await api.call("DELETE", "/v1/pending/2").status == 204)
            #expect(try await api.call("DELETE", "/v1/orders/o").status == 204)
            #expect(try await api.queue().isEmpty)
        }
    }
}

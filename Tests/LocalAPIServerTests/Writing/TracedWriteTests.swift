import CacheStore
import EntitySchema
import JSONText
import SocketServer
import Testing

@testable import LocalAPIServer

@Suite("The trace of a caller's write")
struct TracedWriteTests {
    private static let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    private func traces(_ api: TestAPI) throws -> [String?] {
        try api.store.readyChanges(limit: 9, at: TestAPI.now).map { $0.trace?.stored }
    }

    @Test("is kept with what the write queues, and shown in the queue")
    func kept() async throws {
        let api = try await TestAPI.filled()
        let headers = ["traceparent": Self.traceparent, "tracestate": "a=1"]
        #expect(await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#, headers: headers).status == 200)
        #expect(await api.call("POST", "/v1/orders", body: #"{"status":"open"}"#, headers: headers).status == 201)
        let (own, state) = ("\(Self.traceparent) a=1", "a=1")
        #expect(try traces(api) == [own, own])
        let queued = await api.call("GET", "/v1/pending").json["data"]?.elements ?? []
        #expect(queued.map { $0["traceparent"]?.string } == [Self.traceparent, Self.traceparent])
        #expect(queued.allSatisfy { $0.at(path: "request.headers.tracestate")?.string == state })
    }

    @Test("is kept with a write that its caller may repeat, and a repeat changes nothing")
    func repeatable() async throws {
        let api = try await TestAPI.filled()
        for number in [1, 2] {
            let trace = Self.traceparent.replacing("00f067aa0ba902b7", with: "00f067aa0ba902b\(number)")
            let answer = await api.call(
                "PATCH", "/v1/orders/a", body: #"{"status":"open"}"#,
                headers: ["Idempotency-Key": "k", "traceparent": trace])
            #expect(answer.status == 200)
        }
        #expect(try traces(api) == [Self.traceparent.replacing("00f067aa0ba902b7", with: "00f067aa0ba902b1")])
    }

    @Test("is that of the batch for each of its operations")
    func batch() async throws {
        let api = try await TestAPI.filled()
        let operations = #"""
            {"operations":[{"operation":"update","entity":"orders","id":"a","body":{"status":"open"}},
              {"operation":"create","entity":"orders","body":{"status":"open"}}]}
            """#
        let answer = await api.call(
            "POST", "/v1/_batch", body: operations, headers: ["traceparent": Self.traceparent])
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try traces(api) == [Self.traceparent, Self.traceparent])
    }

    @Test("is ignored if it is malformed, and the write is done", arguments: ["", "00-4bf9-00f0-01", "no trace"])
    func malformed(_ traceparent: String) async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call(
            "PATCH", "/v1/orders/a", body: #"{"status":"open"}"#,
            headers: ["traceparent": traceparent, "tracestate": "a=1"])
        #expect(answer.status == 200)
        #expect(try traces(api) == [nil])
    }

    @Test("is ignored if a request has two, and a tracestate in several fields is one list")
    func several() throws {
        var fields = Headers()
        fields.append(name: "Traceparent", value: Self.traceparent)
        fields.append(name: "tracestate", value: "a=1")
        fields.append(name: "Tracestate", value: "b=2")
        func trace() -> TraceContext? {
            TraceContext(
                Request(
                    method: "POST", path: "/v1/orders", query: nil, headers: fields, body: [], caller: .unknown,
                    noteKnown: {}))
        }
        #expect(trace()?.stored == "\(Self.traceparent) a=1,b=2")
        fields.append(name: "traceparent", value: Self.traceparent)
        #expect(trace() == nil)
    }
}

import CacheStore
import EntitySchema
import JSONText
import Logging
import TestSupport
import Testing
import Upstream

@testable import SyncEngine

@Suite("Sending a change with a trace")
struct TracedPushTests {
    private static let id = "4bf92f3577b34da6a3ce929d0e0e4736"

    @Test("sends the trace with the request, and each attempt's log line has trace_id")
    func sent() async throws {
        let lines = LogLines(from: .trace)
        let test = try TestEngine(log: lines.logger)
        try test.upstream.set("/orders", #"[{"id":"a"}]"#)
        let trace = TraceContext(traceparent: "00-\(Self.id)-00f067aa0ba902b7-01")
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.fail(.refused(status: 400, "no"))
            try await test.store.write(at: test.clock.timestamp, trace: trace) {
                try $0.update("orders", key: "a", .object(["notes": "x"]))
            }
            try await test.engine.sync(SyncRequest())
            _ = try await test.store.retry(nil, at: test.clock.timestamp)
            try await test.engine.sync(SyncRequest())
            try await test.change("a", #"{"notes":"without a trace"}"#)
            try await test.engine.sync(SyncRequest())
        }
        #expect(test.upstream.pushes.compactMap(\.request.trace?.id) == [Self.id, Self.id])
        #expect(test.upstream.pushes.last?.request.trace == nil)
        let traced = lines.all.map(\.metadata).filter { $0["trace_id"] != nil }
        #expect(traced.map { $0["trace_id"] } == [Self.id, Self.id])
        #expect(traced.map { $0["outcome"] } == ["failed", "acknowledged"])
        #expect(traced.allSatisfy { $0["change"] == "1" && $0["entity"] == "orders" && $0["record"] == "a" })
    }
}

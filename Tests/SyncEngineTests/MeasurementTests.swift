import CacheStore
import SyncEngine
import TestSupport
import Testing
import Upstream

@Suite("Measurements")
struct MeasurementTests {
    /// The measurements without their durations.
    private func reported(_ test: TestEngine) -> [String] {
        test.measurements.all.map { measurement in
            switch measurement {
            case .push(let entity, let outcome, _): "push \(entity) \(outcome)"
            case .pull(let entity, let outcome, _): "pull \(entity) \(outcome)"
            case .signal(let source, let outcome): "signal \(source) \(outcome)"
            case .pulled(let entity, let written, let deleted): "pulled \(entity) \(written) \(deleted)"
            case .sync: "sync"
            case .reachability(let isReachable): isReachable ? "reachable" : "unreachable"
            }
        }
    }

    @Test("each pull is reported with its outcome and its records")
    func pulls() async throws {
        let test = try TestEngine()
        try test.upstream.set("/parts", #"[{"id":"p"},{"id":"q"}]"#)
        test.upstream.failList("/orders", .malformed("no list at data"))
        try await test.running {
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
        }
        let reported = reported(test)
        #expect(reported.contains("pull orders failed"))
        #expect(reported.contains("pulled parts 2 0"))
        #expect(reported.contains("pull parts completed"))
    }

    @Test("each push attempt is reported with its outcome")
    func pushes() async throws {
        let test = try TestEngine()
        try test.upstream.set("/orders", #"[{"id":"a"}]"#)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.fail(.refused(status: 400, "no"))
            try await test.change("a", #"{"notes":"x"}"#)
            try await test.engine.sync(SyncRequest())
            _ = try await test.store.retry(nil, at: test.clock.timestamp)
            try await test.engine.sync(SyncRequest())
        }
        #expect(reported(test).filter { $0.hasPrefix("push") } == ["push orders failed", "push orders acknowledged"])
    }

    @Test("each sync is reported, and each loss and return of the upstream")
    func syncs() async throws {
        let test = try TestEngine()
        try await test.running {
            try await test.engine.sync(SyncRequest())
            test.upstream.setOffline(true)
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
            test.upstream.setOffline(false)
            try await test.until { test.engine.status().isReachable }
        }
        let found = reported(test).filter { ["sync", "reachable", "unreachable"].contains($0) }
        #expect(found.prefix(4) == ["sync", "unreachable", "sync", "reachable"])
    }
}

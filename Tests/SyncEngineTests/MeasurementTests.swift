import CacheStore
import SyncEngine
import TestSupport
import Testing
import Upstream

@Suite("Measurements")
struct MeasurementTests {
    /// Without their durations.
    private func told(_ test: TestEngine) -> [String] {
        test.measurements.all.map { measurement in
            switch measurement {
            case .push(let entity, let outcome, _): "push \(entity) \(outcome)"
            case .pull(let entity, let outcome, _): "pull \(entity) \(outcome)"
            case .pulled(let entity, let written, let deleted): "pulled \(entity) \(written) \(deleted)"
            }
        }
    }

    @Test("each pull is told with how it ended and what it brought")
    func pulls() async throws {
        let test = try TestEngine()
        try test.upstream.set("/parts", #"[{"id":"p"},{"id":"q"}]"#)
        test.upstream.failList("/orders", .malformed("no list at data"))
        try await test.running {
            await #expect(throws: SyncError.self) { try await test.engine.sync(SyncRequest()) }
        }
        let told = told(test)
        #expect(told.contains("pull orders failed"))
        #expect(told.contains("pulled parts 2 0"))
        #expect(told.contains("pull parts completed"))
    }

    @Test("each attempt to send a change is told with what came of it")
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
        #expect(told(test).filter { $0.hasPrefix("push") } == ["push orders failed", "push orders acknowledged"])
    }
}

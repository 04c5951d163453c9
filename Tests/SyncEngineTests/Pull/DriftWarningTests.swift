import SyncEngine
import Testing

@Suite("Warnings of drift")
struct DriftWarningTests {
    @Test("each new kind of drift is logged once")
    func once() async throws {
        let lines = LogLines()
        let test = try TestEngine(log: lines.logger)
        try test.upstream.set("/parts", #"[{"id":"p","colour":"red"},{"id":"q","colour":"blue"}]"#)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try test.upstream.set("/parts", #"[{"id":"p","colour":"green"},{"id":"q","size":1}]"#)
            try await test.engine.sync(SyncRequest(entities: ["parts"]))
        }
        #expect(drift(lines) == ["colour string", "size integer"])
        let again = LogLines()
        let other = try TestEngine(upstream: test.upstream, store: test.store, log: again.logger)
        try await other.running { try await other.engine.sync(SyncRequest()) }
        #expect(drift(again).isEmpty)
    }

    /// The fields that the lines name, and what was found in them.
    private func drift(_ lines: LogLines) -> [String] {
        lines.warnings.compactMap { line in
            line.metadata["field"].flatMap { field in line.metadata["found"].map { "\(field) \($0)" } }
        }
    }
}

import Logging
import SyncEngine
import Synchronization
import Testing

@Suite("Warnings of drift")
struct DriftWarningTests {
    @Test("each new kind of drift is logged once")
    func once() async throws {
        let lines = LogLines()
        let test = try TestEngine(log: Logger(label: "test") { _ in lines })
        try test.upstream.set("/parts", #"[{"id":"p","colour":"red"},{"id":"q","colour":"blue"}]"#)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try test.upstream.set("/parts", #"[{"id":"p","colour":"green"},{"id":"q","size":1}]"#)
            try await test.engine.sync(SyncRequest(entities: ["parts"]))
        }
        #expect(lines.drift == ["colour string", "size integer"])
        let again = LogLines()
        let other = try TestEngine(
            upstream: test.upstream, store: test.store, log: Logger(label: "test") { _ in again })
        try await other.running { try await other.engine.sync(SyncRequest()) }
        #expect(again.drift.isEmpty)
    }
}

/// Keeps the warnings that name a field.
private final class LogLines: LogHandler, Sendable {
    private let lines = Mutex<[String]>([])

    var drift: [String] { lines.withLock { $0 } }

    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .warning }
        set {}
    }
    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        guard event.level == .warning, let field = event.metadata?["field"], let found = event.metadata?["found"] else {
            return
        }
        lines.withLock { $0.append("\(field) \(found)") }
    }
}

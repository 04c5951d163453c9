import EntitySchema
import Logging
import SchemaDrift
import TestSupport
import Testing

@testable import SyncEngine

@Suite("Warnings of drift")
struct DriftWarningTests {
    @Test("each new field that the schema lacks is named once")
    func once() async throws {
        let lines = LogLines()
        let test = try TestEngine(log: lines.logger)
        try test.upstream.set("/parts", #"[{"id":"p","colour":"red"},{"id":"q","colour":"blue"}]"#)
        try await test.running {
            try await test.engine.sync(SyncRequest())
            try test.upstream.set("/parts", #"[{"id":"p","colour":"green"},{"id":"q","size":1}]"#)
            try await test.engine.sync(SyncRequest(entities: ["parts"]))
        }
        #expect(named(lines) == ["colour", "size"])
        let again = LogLines()
        let other = try TestEngine(upstream: test.upstream, store: test.store, log: again.logger)
        try await other.running { try await other.engine.sync(SyncRequest()) }
        #expect(named(again).isEmpty)
    }

    @Test("they are named together for each entity, apart from what is wrong")
    func together() {
        let found = [
            drift("orders", "b"), drift("clients", "x"), drift("orders", "a"), drift("orders", "b", found: "null"),
            drift("orders", "total", .type),
        ]
        let lines = DriftWarnings.unknown(in: found).map { "\($0.entity): \($0.names)" }
        #expect(lines == ["orders: b, a", "clients: x"])
    }

    @Test(
        "of very many, the first are named",
        arguments: [(40, "f39, f40"), (41, "f40 and 1 more"), (50, "f40 and 10 more")])
    func many(_ count: Int, _ end: String) {
        let found = (1...count).map { drift("orders", "f\($0)") }
        let names = DriftWarnings.unknown(in: found).first?.names ?? ""
        #expect(names.hasPrefix("f1, f2, ") && names.hasSuffix(end))
    }

    /// The fields that the lines name.
    private func named(_ lines: LogLines) -> [String] {
        lines.all.filter { $0.level == .notice }.compactMap { $0.metadata["fields"] }
    }

    private func drift(_ entity: String, _ field: String, _ kind: DriftKind = .unknown, found: String = "text") -> Drift
    {
        Drift(
            entity: entity, field: field, kind: kind, expected: nil, found: found, count: 1, example: "a",
            firstSeen: Timestamp(milliseconds: 0), lastSeen: Timestamp(milliseconds: 0))
    }
}

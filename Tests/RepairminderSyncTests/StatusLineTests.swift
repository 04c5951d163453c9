import EntitySchema
import Foundation
import Testing

@testable import SyncEngine
@testable import repairminder_sync

@Suite("The line for systemctl status")
struct StatusLineTests {
    private static let now = Timestamp(iso8601: "2026-11-21T12:00:00Z") ?? Timestamp(milliseconds: 0)

    private func text(_ line: StatusLine) throws -> String {
        line.text(at: Self.now, in: try #require(TimeZone(identifier: "Europe/Berlin")))
    }

    private func line(_ state: SyncStatus.State, error: String? = nil, lastSync: String? = nil) -> StatusLine {
        StatusLine(
            status: SyncStatus(
                state: state, progress: 0.428, phase: state == .syncing ? "pulling orders" : nil,
                lastSyncAt: lastSync.flatMap { Timestamp(iso8601: $0) }, error: error, isReachable: true, entities: [:]),
            pending: 3, failed: 0, conflicts: 0)
    }

    @Test("it says what is done, what waits and when the last sync was, by the machine's clock")
    func idle() throws {
        #expect(try text(line(.idle, lastSync: "2026-11-21T09:42:10Z")) == "idle, 3 pending, last sync 10:42")
        #expect(try text(line(.completed, lastSync: "2026-11-21T09:42:10Z")) == "idle, 3 pending, last sync 10:42")
        #expect(try text(line(.syncing)) == "syncing (pulling orders, 42 %), 3 pending, no sync since the start")
    }

    @Test("another day's sync is told with its day")
    func yesterday() throws {
        #expect(try text(line(.idle, lastSync: "2026-11-20T22:59:00Z")).hasSuffix("last sync 2026-11-20 23:59"))
        #expect(try text(line(.idle, lastSync: "2026-11-20T23:01:00Z")).hasSuffix("last sync 00:01"))
    }

    @Test("trouble comes with its reason")
    func trouble() throws {
        var line = line(.offline, error: "no route")
        line.failed = 1
        line.conflicts = 2
        #expect(
            try text(line)
                == "offline (no route), 3 pending, 1 failed, 2 conflicts to decide, no sync since the start")
    }

    @Test("what is missing, and a refused configuration, are said first")
    func setup() throws {
        var line = line(.error, error: "401")
        line.missing = "not signed in"
        line.refusal = "config.yaml:3: sync.intervall: unknown key"
        #expect(
            try text(line) == """
                new configuration refused (config.yaml:3: sync.intervall: unknown key), \
                not set up (not signed in), 3 pending, no sync since the start
                """)
    }
}

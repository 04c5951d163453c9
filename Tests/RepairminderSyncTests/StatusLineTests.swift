import EntitySchema
import Testing

@testable import SyncEngine
@testable import repairminder_sync

@Suite("Status line")
struct StatusLineTests {
    private static let now = Timestamp(iso8601: "2026-11-21T12:00:00Z") ?? Timestamp(milliseconds: 0)

    private func text(_ line: StatusLine) -> String { line.text(TimeText(now: Self.now) { _ in 3600 }) }

    private func line(_ state: SyncStatus.State, error: String? = nil, lastSync: String? = nil) -> StatusLine {
        StatusLine(
            status: SyncStatus(
                state: state, progress: 0.428, phase: state == .syncing ? "pulling orders" : nil,
                lastSyncAt: lastSync.flatMap { Timestamp(iso8601: $0) }, error: error, isReachable: true, entities: [:]),
            pending: 3, failed: 0, conflicts: 0)
    }

    @Test("it shows the state, the pending changes and the time of the last sync in local time")
    func idle() {
        #expect(text(line(.idle, lastSync: "2026-11-21T09:42:10Z")) == "idle, 3 pending, last sync 10:42")
        #expect(text(line(.completed, lastSync: "2026-11-21T09:42:10Z")) == "idle, 3 pending, last sync 10:42")
        #expect(text(line(.syncing)) == "syncing (pulling orders, 42 %), 3 pending, no sync since the start")
    }

    @Test("a sync on another day is shown with its date")
    func yesterday() {
        #expect(text(line(.idle, lastSync: "2026-11-20T22:59:00Z")).hasSuffix("last sync 2026-11-20 23:59"))
        #expect(text(line(.idle, lastSync: "2026-11-20T23:01:00Z")).hasSuffix("last sync 00:01"))
    }

    @Test("errors are shown with their reason")
    func trouble() {
        var line = line(.offline, error: "no route")
        line.failed = 1
        line.conflicts = 2
        #expect(
            text(line)
                == "offline (no route), 3 pending, 1 failed, 2 conflicts to resolve, no sync since the start")
    }

    @Test("missing setup and a rejected configuration come first")
    func setup() {
        var line = line(.error, error: "401")
        line.missing = "not signed in"
        line.rejection = "config.yaml:3: sync.intervall: unknown key"
        #expect(
            text(line) == """
                new configuration rejected (config.yaml:3: sync.intervall: unknown key), \
                not set up (not signed in), 3 pending, no sync since the start
                """)
    }
}

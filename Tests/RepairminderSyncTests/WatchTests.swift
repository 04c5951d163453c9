import EntitySchema
import JSONText
import Testing

@testable import repairminder_sync

@Suite struct WatchTests {
    private static let status = JSONText.object([
        "state": "syncing", "progress": 0, "phase": "pulling orders", "pending": 3, "failed": 0, "conflicts": 1,
    ])

    private static func change(_ id: String) -> JSONText {
        .object(["at": "2026-11-21T10:42:00.000Z", "kind": "queued", "entity": "orders", "id": .string(id)])
    }

    @Test("in a terminal a frame overwrites the previous one, however many lines it had")
    func redraws() {
        var screen = WatchScreen(isTerminal: true)
        let first = screen.text(status: Self.status, changes: [Self.change("a")], size: (80, 24))
        #expect(!first.contains("\u{1B}[1F") && first.hasSuffix("\u{1B}[J"))
        let lines = first.split(separator: "\n").count - 1
        let second = screen.text(status: Self.status, changes: [Self.change("b")], size: (80, 24))
        #expect(second.hasPrefix("\u{1B}[\(lines)F"))
        #expect(second.contains("orders a") && second.contains("orders b"))
    }

    @Test("in a terminal changes have the local time of day")
    func localTimes() {
        var screen = WatchScreen(
            isTerminal: true, times: { TimeText(now: Timestamp(milliseconds: 0)) { _ in 3600 } })
        let text = screen.text(status: Self.status, changes: [Self.change("a")], size: (80, 24))
        #expect(text.contains("11:42:00 queued orders a"))
    }

    @Test("no line is wider than the terminal or controls it")
    func width() {
        var screen = WatchScreen(isTerminal: true)
        let changes = (0..<30).map { Self.change("\u{1B}]0;x\u{07}" + String(repeating: "w", count: $0 * 10)) }
        let text = screen.text(status: Self.status, changes: changes, size: (40, 12))
        let lines = text.split(separator: "\n").map { $0.replacing("\u{1B}[K", with: "") }
        #expect(lines.count <= 12)
        #expect(lines.allSatisfy { $0.count < 40 })
        #expect(!text.contains("\u{1B}]0"))
    }

    @Test("a share that is none is shown as nothing or all", arguments: [("1e300", "100 %"), ("-1e300", "0 %")])
    func impossibleShare(progress: String, shown: String) throws {
        var screen = WatchScreen(isTerminal: true)
        let status = try JSONText(parsing: "{\"state\":\"syncing\",\"progress\":\(progress)}")
        #expect(screen.text(status: status, changes: [], size: (80, 24)).contains("] \(shown)"))
    }

    @Test("a share that is no number, as of a compromised daemon, is shown as none", arguments: ["nan", "inf", "0.5"])
    func noShare(progress: String) {
        var screen = WatchScreen(isTerminal: true)
        let status = JSONText.object(["state": "syncing", "phase": "pushing", "progress": .string(progress)])
        #expect(!screen.text(status: status, changes: [], size: (80, 24)).contains("%"))
        #expect(ProgressLine.sample(of: status)?.done == 0)
    }

    @Test("without a terminal there is a line for each change and each new state")
    func plainLines() {
        var screen = WatchScreen(isTerminal: false)
        let state = "syncing (pulling orders), pending 3, failed 0, conflicts 1\n"
        #expect(screen.text(status: Self.status, changes: [], size: nil) == state)
        #expect(
            screen.text(status: Self.status, changes: [Self.change("a")], size: nil)
                == "2026-11-21T10:42:00.000Z queued orders a\n")
        #expect(screen.textOfUnreachable(nil) == "the daemon is unreachable\n")
        #expect(screen.textOfUnreachable(nil).isEmpty)
        #expect(screen.text(status: Self.status, changes: [], size: nil) == state)
    }

    @Test("a history shows what happened in words")
    func history() throws {
        let entries = try [
            #"{"at":"1","kind":"queued","change_id":4,"reason":"edited","operation":"update","values":{"status":"ready"}}"#,
            #"{"at":"2","kind":"uploading","change_id":4,"attempt":1}"#,
            #"{"at":"3","kind":"failed","change_id":4,"error":{"class":"refused","status":422,"message":"no"}}"#,
            #"{"at":"4","kind":"conflict","change_id":4,"reason":"found","conflict":{"field":"status","base":"a","#
                + #""local":"b","server":"c","winner":"server","rule":"server_wins"}}"#,
            #"{"at":"5","kind":"renamed","change_id":4,"old_id":"x"}"#,
            #"{"at":"6","kind":"upserted","change_id":null}"#,
        ].map { try JSONText(parsing: $0) }
        #expect(
            HistoryCommand.table(entries).rows == [
                ["1", "4", "edited here", "status=ready"], ["2", "4", "uploading", "attempt 1"],
                ["3", "4", "failed", "refused 422 no"],
                ["4", "4", "conflict (found)", "status base=a local=b server=c server won by server_wins"],
                ["5", "4", "renamed", "was x"], ["6", "", "pulled", ""],
            ])
    }
}

import Foundation
import JSONText
import Testing

/// Hooks of the built daemon: every event reaches the program, in order, even when the daemon is killed.
@Suite("Hooks", .timeLimit(.minutes(10)))
struct HookTests {
    private func create(_ ids: Range<Int>, _ daemon: ChoresDaemon) async throws {
        for id in ids {
            let chore = JSONText.object(["id": .string("\(id)"), "title": "x"])
            #expect(try await daemon.call("POST", "/v1/chores", chore).status == 201)
        }
    }

    private func told(_ daemon: ChoresDaemon) throws -> [String] {
        try String(contentsOf: daemon.folder.appending(path: "told"), encoding: .utf8).split(separator: "\n")
            .map(String.init)
    }

    private static let onCreated = "hooks: { told: { on: created, of: chores, command: [FOLDER/tell, FOLDER/told] } }"

    @Test
    func `a daemon killed between deliveries leaves none out, and keeps their order`() async throws {
        try await ChoresDaemon.running(Self.onCreated) { daemon in
            // Each daemon waits in the delivery after the one at which it is killed, however slow this test is. If it is killed before
            // the program has read its id, the program sees another parent, and ends after a minute.
            try daemon.script(
                "tell",
                #"""
                before=$((HOOK_RECORD_ID - 1))
                case $before in 10|20|30) [ -e "$1.$before" ] || exec timeout --foreground 60 tail -f --pid=$PPID /dev/null ;; esac
                echo "$HOOK_RECORD_ID $HOOK_KEY" >> "$1"; echo "telling $HOOK_RECORD_ID." >&2; sleep 0.1
                """#)
            try await create(0..<40, daemon)
            for last in [10, 20, 30] {
                try await daemon.line(containing: "telling \(last).")
                await daemon.kill()
                try Data().write(to: daemon.folder.appending(path: "told.\(last)"))
                try await daemon.start()
            }
            try await daemon.line(containing: "telling 39.")
            var seen: Set<String> = []
            let first = try told(daemon).filter { seen.insert($0).inserted }
            // A repeat has the same key, so each record stands there once.
            #expect(first.map { String($0.prefix { $0 != " " }) } == (0..<40).map { "\($0)" })
        }
    }

    @Test
    func `a delivery that fails is made again before the next`() async throws {
        try await ChoresDaemon.running(Self.onCreated) { daemon in
            try daemon.script(
                "tell",
                #"echo "$HOOK_RECORD_ID $HOOK_ATTEMPT" >> "$1"; echo "telling $HOOK_RECORD_ID." >&2; [ "$HOOK_ATTEMPT" -gt 1 ]"#
            )
            try await create(0..<2, daemon)
            try await daemon.line(containing: "telling 1.")
            #expect(try told(daemon).prefix(3) == ["0 1", "0 2", "1 1"])
        }
    }

    @Test
    func `a hook that hangs is ended, parked and listed, and holds up no other call`() async throws {
        let settings = """
            hooks: { told: { on: created, of: chores, command: FOLDER/tell, deadline: 1s, attempts: 1 } }
            """
        try await ChoresDaemon.running(settings) { daemon in
            try daemon.script("tell", "sleep 600 & wait")
            try await create(0..<1, daemon)
            try await daemon.line(containing: "failed and is parked")
            #expect(try await daemon.command("hooks", "--skip", "told").status != 0)
            #expect(try await daemon.call("POST", "/v1/_hooks/told/pause").body["state"] == "paused")
            #expect(try await daemon.command("hooks").output.contains("told"))
            #expect(try await daemon.command("hooks", "told").output.contains("created"))
            #expect(try await daemon.call("GET", "/v1/_hooks/none").status == 404)
        }
    }
}

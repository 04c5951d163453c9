import EntitySchema
import Foundation
import SyncEngine
import TestSupport
import Testing

@testable import CacheStore
@testable import repairminder_sync

@Suite("Programs that deliver reminders")
struct ReminderProgramTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// What a shell script writes to the file `$1`.
    private func written(by script: String, text: String = "Filter") async throws -> String {
        let path = folder.path + "/written"
        try await run("/bin/sh", ["-c", script, "sh", path], text)
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    private func run(_ path: String, _ arguments: [String], _ text: String = "Filter") async throws {
        let program = HookProgram(
            path: path, arguments: arguments.map { Template(parts: [.text($0)]) }, entity: nil,
            environment: ["PATH": "/usr/bin:/bin"], deadline: .seconds(60), memory: nil, clock: ContinuousClock()
        ) { _ in }
        let reminder = Reminder(
            id: 1, rule: "due", entity: "chores", key: "c", text: text, dueAt: .sample, state: .due, attempts: 0)
        let due = HookOccurrence(event: .due, seq: 7, at: .sample, entity: "chores", key: "c", reminder: 1)
        try await program.run(
            HookDelivery(
                hook: "reminders", key: "reminders-e-7", occurrence: due, attempt: 2, record: nil, reminder: reminder))
    }

    @Test("the program has no blocked and no ignored signals")
    func signals() async throws {
        let text = try await written(by: #"grep -E '^Sig(Blk|Ign)' /proc/self/status > "$1""#)
        // The C library keeps 32 and 33 for itself: programs that it starts ignore them, and so do the programs of those.
        let own: UInt64 = 3 << 31
        let signals = text.split(separator: "\n").map { UInt64($0.suffix(16), radix: 16).map { $0 & ~own } }
        #expect(signals == [0, 0])
    }

    @Test("the program has the reminder in its environment, beside what every hook has")
    func environment() async throws {
        let script = #"env | grep -E '^(REMINDER|HOOK)_' | sort > "$1""#
        #expect(
            try await written(by: script) == """
                HOOK_ATTEMPT=2
                HOOK_ENTITY=chores
                HOOK_EVENT=due
                HOOK_KEY=reminders-e-7
                HOOK_NAME=reminders
                HOOK_RECORD_ID=c
                REMINDER_ATTEMPT=2
                REMINDER_DUE_AT=2026-11-21T10:42:00.000Z
                REMINDER_ENTITY=chores
                REMINDER_ID=1
                REMINDER_RECORD_ID=c
                REMINDER_RULE=due
                REMINDER_TEXT=Filter

                """)
    }

    @Test("the program's input is the event with the reminder, and it has no other open file")
    func files() async throws {
        #expect(try await written(by: #"cat > "$1""#).contains(#""reminder_id":1"#))
        let script = #"{ for f in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$f ] && echo $f; done; } > "$1"; true"#
        #expect(try await written(by: script).isEmpty)
    }

    @Test("a text that the kernel would refuse is cut")
    func longText() async throws {
        let text = try await written(
            by: #"printf %s "$REMINDER_TEXT" | tail -c 4 > "$1""#, text: String(repeating: "x", count: 200_000))
        #expect(text == "x…")
    }

    @Test("a program that fails or cannot be run says why")
    func failure() async throws {
        await #expect { try await run("/bin/sh", ["-c", "exit 3"]) } throws: { "\($0)".contains("status 3") }
        await #expect { try await run("/no/such/program", []) } throws: { error in
            "\(error)".contains("/no/such/program cannot be run: No such file or directory")
        }
    }
}

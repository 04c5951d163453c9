import Foundation
import JSONText
import SocketServer
import Synchronization
import Testing

/// Reminders of the built daemon: a program or a webhook receives each one once, even when the daemon is killed.
@Suite("Reminders", .timeLimit(.minutes(10)))
struct ReminderTests {
    private static let chore = JSONText.object(["title": "Filter; $(id)", "at": "2026-11-21T10:00:00Z"])

    /// Due a minute ago.
    private func dueChore() -> JSONText {
        Self.chore.setting("at", to: .string(Date.now.addingTimeInterval(-60).formatted(.iso8601)))
    }

    private func delivered(_ folder: URL) throws -> String {
        try String(contentsOf: folder.appending(path: "delivered"), encoding: .utf8)
    }

    @Test
    func `a program is run with the text in its environment, and no shell sees it`() async throws {
        try await ChoresDaemon.running("reminders: { command: FOLDER/deliver FOLDER/delivered }") { daemon in
            try daemon.script(
                "deliver", #"printf '%s|%s|%s\n' "$REMINDER_TEXT" "$REMINDER_ENTITY" "$REMINDER_ATTEMPT" >> "$1""#)
            #expect(try await daemon.call("POST", "/v1/chores", dueChore()).status == 201)
            _ = try await daemon.reminder(becomes: "delivered")
            #expect(try delivered(daemon.folder) == "Filter; $(id)|chores|1\n")
            await daemon.kill()
            try await daemon.start()
            let reminders = try await daemon.call("GET", "/v1/reminders").body["data"]?.elements ?? []
            #expect(reminders.map { $0["state"] } == ["delivered"])
            #expect(reminders.map { $0["attempts"]?.integer } == [1])
            #expect(try await daemon.command("reminders").output.contains("Filter; $(id)"))
            let hook = try await daemon.call("GET", "/v1/_hooks/reminders").body
            #expect(hook["on"] == .array([.string("due")]) && hook["delivered"]?.integer == 1)
        }
    }

    @Test
    func `a daemon killed during a delivery delivers once more`() async throws {
        try await ChoresDaemon.running("reminders: { command: FOLDER/deliver FOLDER/delivered }") { daemon in
            let began = daemon.folder.appending(path: "began").path
            #expect(mkfifo(began, 0o600) == 0)
            // The first delivery goes on until the daemon is gone.
            try daemon.script(
                "deliver",
                #"""
                echo "$REMINDER_ID $HOOK_KEY" >> "$1"
                if [ -p "\#(began)" ]; then echo began > "\#(began)"; exec tail -f --pid=$PPID /dev/null; fi
                """#)
            let id = try await daemon.call("POST", "/v1/chores", dueChore()).body["id"]?.string
            // Opening the pipe waits until the program has begun.
            let begun = try FileHandle(forReadingFrom: URL(filePath: began)).readToEnd() ?? Data()
            #expect(begun == Data("began\n".utf8))
            await daemon.kill()
            try FileManager.default.removeItem(atPath: began)
            try await daemon.start()
            let reminder = try await daemon.reminder(becomes: "delivered")
            #expect(reminder["record_id"]?.string == id)
            let lines = try delivered(daemon.folder).split(separator: "\n")
            #expect(lines.count == 2 && Set(lines).count == 1)
            #expect(lines.first?.hasPrefix("1 reminders-") == true)
        }
    }

    @Test
    func `a webhook on this machine gets the reminder as JSON`() async throws {
        let bodies = Mutex<[JSONText]>([])
        let keys = Mutex<[String]>([])
        let server = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: 0)], threads: 1) { request in
            if let body = try? JSONText(request.body) { bodies.withLock { $0.append(body) } }
            keys.withLock { $0.append(request.headers[single: "idempotency-key"] ?? "") }
            return Response(status: 204)
        }
        let address = try #require(try server.bind().first).description
        let serving = Task { try await server.run() }
        defer { serving.cancel() }
        try await ChoresDaemon.running("reminders: { webhook: \"\(address)/hook\" }") { daemon in
            #expect(try await daemon.call("POST", "/v1/chores", dueChore()).status == 201)
            _ = try await daemon.reminder(becomes: "delivered")
            #expect(bodies.withLock { $0 }.map { $0["text"]?.string } == ["Filter; $(id)"])
            #expect(keys.withLock { $0 }.first?.hasPrefix("reminders-") == true)
        }
    }
}

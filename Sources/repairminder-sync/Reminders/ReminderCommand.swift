import CacheStore
import Foundation
import Glibc

/// Runs a program of the administrator's for each reminder: directly, never through a shell, with all that there is to
/// tell in its environment. It has succeeded when it ends with status 0.
struct ReminderCommand: Sendable {
    /// The program's path, then its arguments.
    let words: [String]
    /// What it gets besides.
    let environment: [String: String]
    let limit: Duration
    let clock: any Clock<Duration>

    private struct End {
        var status: Int32
        var isSignal: Bool
    }

    /// A program that takes longer than the limit is killed.
    func run(for reminder: Reminder) async throws {
        let process = Process()
        process.executableURL = URL(filePath: words[0])
        process.arguments = Array(words.dropFirst())
        process.environment = environment.merging(Self.variables(of: reminder)) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.standardError
        let (ends, continuation) = AsyncStream.makeStream(of: End.self)
        process.terminationHandler = { process in
            continuation.yield(
                End(status: process.terminationStatus, isSignal: process.terminationReason == .uncaughtSignal))
            continuation.finish()
        }
        do {
            try process.run()
        } catch {
            throw ReminderFailure(message: "\(words[0]) cannot be run (\(error)); check reminders.command")
        }
        let pid = process.processIdentifier
        let watchdog = Task { [clock, limit] in
            try await clock.sleep(for: limit)
            kill(pid, SIGKILL)
        }
        defer { watchdog.cancel() }
        let end = await withTaskCancellationHandler {
            await ends.first { _ in true }
        } onCancel: {
            kill(pid, SIGKILL)
        }
        try Task.checkCancellation()
        guard let end, end.isSignal || end.status != 0 else { return }
        throw ReminderFailure(
            message: end.isSignal
                ? "\(words[0]) was ended by signal \(end.status); reminders.deadline gives it \(limit)"
                : "\(words[0]) ended with status \(end.status)")
    }

    static func variables(of reminder: Reminder) -> [String: String] {
        [
            "REMINDER_ID": "\(reminder.id)", "REMINDER_TEXT": reminder.text, "REMINDER_RULE": reminder.rule,
            "REMINDER_ENTITY": reminder.entity, "REMINDER_RECORD_ID": reminder.key,
            "REMINDER_DUE_AT": "\(reminder.dueAt)", "REMINDER_ATTEMPT": "\(reminder.attempts)",
        ]
        // A zero would cut the environment short, and no text of ours needs one.
        .mapValues { $0.replacing("\0", with: "") }
    }

    /// The daemon's own environment without what is the daemon's alone.
    static func passedOn(_ environment: [String: String]) -> [String: String] {
        environment.filter {
            !$0.key.hasPrefix(ConfigurationKey.variablePrefix)
                && !["CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID"].contains($0.key)
        }
    }
}

/// Why nobody was told; ends up in the log and in the reminder.
struct ReminderFailure: Error, CustomStringConvertible {
    var message: String

    var description: String { message }
}

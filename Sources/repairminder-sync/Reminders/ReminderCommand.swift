import CacheStore
import Glibc
import JSONText

/// Delivers reminders by running the configured program, never through a shell, with the reminder in its environment.
/// Exit status 0 means success.
struct ReminderCommand: Sendable {
    /// The program's path, then its arguments.
    let words: [String]
    /// Other environment variables to pass on.
    let environment: [String: String]
    let limit: Duration
    let clock: any Clock<Duration>

    /// The most bytes of one variable. The kernel takes 128 KiB.
    private static let longestValue = 64 << 10

    /// Runs the program; kills it when it takes longer than the limit. Throws `ReminderFailure` when it fails.
    func run(for reminder: Reminder) async throws {
        let pid: pid_t
        do {
            pid = try ChildProcess.start(words, environment: environment.merging(Self.variables(of: reminder)) { $1 })
        } catch {
            throw ReminderFailure(message: "\(words[0]) cannot be run: \(error.reason); check reminders.command")
        }
        let watchdog = Task { [clock, limit] in
            try await clock.sleep(for: limit)
            kill(pid, SIGKILL)
        }
        defer { watchdog.cancel() }
        let end = await withTaskCancellationHandler {
            await ChildProcess.end(of: pid)
        } onCancel: {
            kill(pid, SIGKILL)
        }
        try Task.checkCancellation()
        guard end.isSignal || end.status != 0 else { return }
        throw ReminderFailure(
            message: end.isSignal
                ? "\(words[0]) was terminated by signal \(end.status); reminders.deadline is \(limit)"
                : "\(words[0]) exited with status \(end.status)")
    }

    static func variables(of reminder: Reminder) -> [String: String] {
        [
            "REMINDER_ID": "\(reminder.id)", "REMINDER_TEXT": reminder.text, "REMINDER_RULE": reminder.rule,
            "REMINDER_ENTITY": reminder.entity, "REMINDER_RECORD_ID": reminder.key,
            "REMINDER_DUE_AT": "\(reminder.dueAt)", "REMINDER_ATTEMPT": "\(reminder.attempts)",
        ]
        // A null byte would cut the value short.
        .mapValues { $0.replacing("\0", with: "").cut(toBytes: longestValue) }
    }

    /// The daemon's environment without variables meant only for the daemon.
    static func passedOn(_ environment: [String: String]) -> [String: String] {
        environment.filter {
            !$0.key.hasPrefix(ConfigurationKey.variablePrefix)
                && !["CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID"].contains($0.key)
        }
    }
}

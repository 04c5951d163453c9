import CacheStore
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
    /// Takes each line that it writes.
    let report: @Sendable (_ line: String) -> Void

    /// The most bytes of one variable. The kernel takes 128 KiB.
    private static let longestValue = 64 << 10

    /// Runs the program; kills it when it takes longer than the limit. Throws `ReminderFailure` when it fails.
    func run(for reminder: Reminder) async throws {
        let program = LimitedProgram(
            words: words, environment: environment.merging(Self.variables(of: reminder)) { $1 }, deadline: limit,
            report: report)
        do {
            switch try await program.run(clock: clock) {
            case .exited(0): return
            case .exited(let status): throw ReminderFailure(message: "\(words[0]) exited with status \(status)")
            case .signalled(let signal):
                throw ReminderFailure(message: "\(words[0]) was terminated by signal \(signal)")
            case .tookTooLong:
                throw ReminderFailure(
                    message: "\(words[0]) took longer than reminders.deadline, \(limit), and was killed")
            }
        } catch let error as ChildProcess.StartFailure {
            throw ReminderFailure(message: "\(words[0]) cannot be run: \(error.reason); check reminders.command")
        }
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

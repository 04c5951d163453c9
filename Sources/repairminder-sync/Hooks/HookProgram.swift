import CacheStore
import EntitySchema
import JSONText
import SyncEngine
import SystemCalls

/// Delivers events by running a program: the event as JSON on its standard input, and what the arguments ask for in them.
/// Exit status 0 means success.
struct HookProgram: Sendable {
    let path: String
    let arguments: [Template]
    let entity: Entity?
    let environment: [String: String]
    let deadline: Duration
    /// In bytes; nil for no limit.
    let memory: Int?
    let clock: any Clock<Duration>
    /// Takes each line that it writes.
    let report: @Sendable (_ line: String) -> Void

    /// The most bytes of one argument. The kernel takes 128 KiB.
    private static let longestArgument = 64 << 10

    func run(_ delivery: HookDelivery) async throws {
        let program = LimitedProgram(
            words: [path] + arguments.map { filled($0, delivery) },
            environment: environment.merging(Self.variables(of: delivery)) { $1 },
            input: Array(delivery.document.bytes), deadline: deadline, memory: memory, report: report)
        do {
            switch try await program.run(clock: clock) {
            case .exited(0): return
            case .exited(let status): throw HookFailure(message: "\(path) exited with status \(status)")
            case .signalled(let signal): throw HookFailure(message: "\(path) was terminated by signal \(signal)")
            case .tookTooLong:
                throw HookFailure(message: "\(path) took longer than its deadline, \(deadline), and was killed")
            }
        } catch let error as SystemError {
            throw HookFailure(message: "\(path) cannot be run: \(error); check the hook's command")
        }
    }

    /// What an event does not have is left out.
    private func filled(_ argument: Template, _ delivery: HookDelivery) -> String {
        let text = argument.parts.map { part in
            switch part {
            case .text(let text): text
            case .placeholder(let name): value(of: name, delivery)
            }
        }.joined()
        return Self.passable(text)
    }

    private func value(of name: String, _ delivery: HookDelivery) -> String {
        switch name {
        case "$hook": return delivery.hook
        case "$event": return delivery.occurrence.event.rawValue
        case "$entity": return delivery.occurrence.entity ?? ""
        case "$id": return delivery.occurrence.key ?? ""
        case "$key": return delivery.key
        default:
            guard let record = delivery.record, let value = entity?.value(of: name, in: record), value.kind != .null
            else { return "" }
            return value.plain
        }
    }

    static func variables(of delivery: HookDelivery) -> [String: String] {
        let variables = [
            "HOOK_NAME": delivery.hook, "HOOK_KEY": delivery.key, "HOOK_EVENT": delivery.occurrence.event.rawValue,
            "HOOK_ENTITY": delivery.occurrence.entity ?? "", "HOOK_RECORD_ID": delivery.occurrence.key ?? "",
            "HOOK_ATTEMPT": "\(delivery.attempt)",
        ]
        let more = delivery.reminder.map { ofReminder($0) } ?? [:]
        return variables.merging(more) { $1 }.mapValues(passable)
    }

    private static func ofReminder(_ reminder: Reminder) -> [String: String] {
        [
            "REMINDER_ID": "\(reminder.id)", "REMINDER_TEXT": reminder.text, "REMINDER_RULE": reminder.rule,
            "REMINDER_ENTITY": reminder.entity, "REMINDER_RECORD_ID": reminder.key,
            "REMINDER_DUE_AT": "\(reminder.dueAt)", "REMINDER_ATTEMPT": "\(reminder.attempts)",
        ]
    }

    /// The daemon's environment without variables meant only for the daemon.
    static func passedOn(_ environment: [String: String]) -> [String: String] {
        environment.filter {
            !$0.key.hasPrefix(ConfigurationKey.variablePrefix)
                && !["CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID"].contains($0.key)
        }
    }

    /// A null byte would cut the text short.
    private static func passable(_ text: String) -> String {
        text.replacing("\0", with: "").cut(toBytes: longestArgument)
    }
}

/// Why a delivery failed; shown in the log and in the hook's state.
struct HookFailure: Error, CustomStringConvertible {
    var message: String

    var description: String { message }
}

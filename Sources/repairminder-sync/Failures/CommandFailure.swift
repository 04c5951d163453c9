import ArgumentParser
import CacheStore
import ContentStore
import JSONText
import LocalAPI
import SQLiteStore
import SocketServer
import Upstream

/// Why a command failed: a message for people and an exit status for scripts.
struct CommandFailure: Error, Equatable {
    var status: CommandStatus
    /// Empty when the status says everything.
    var message: String
    /// The problem document of the daemon, if that is where the error comes from.
    private var problem: JSONText?

    init(_ status: CommandStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// The error for programs: the daemon's problem document unchanged, else one with the same members.
    var document: JSONText {
        problem
            ?? .object([
                "title": .string(status.meaning), "code": .string(status.code), "detail": .string(message),
            ])
    }

    init(_ error: ConfigurationError) { self.init(.badConfiguration, "\(error)") }

    init(_ error: LocalAPIError) {
        let message =
            switch error {
            case .unreachable(let message), .unexpected(let message): message
            case .problem(let problem) where problem.code == "token_required":
                "the daemon does not know you: \(GroupAdvice.ofUnknownCaller); or name a file with its token: --token-file"
            case .problem(let problem): Self.message(of: problem)
            }
        self.init(CommandStatus(error), message)
        if case .problem(let problem) = error { self.problem = problem.document }
    }

    /// The failure of a read for which the daemon may ask the upstream. A record that is not cached now may be later.
    init(reading error: LocalAPIError) {
        self.init(error)
        if case .problem(let problem) = error, problem.code == "not_cached" { status = .temporaryFailure }
    }

    /// The failure of a write whose conflict does not end by itself, so that trying again does not help: the key is
    /// taken, other records refer to the record, or the conflict is decided. A change that is being sent is none.
    init(lasting error: LocalAPIError) {
        self.init(error)
        if case .problem(let problem) = error, problem.status == 409, problem.code != "busy" { status = .badData }
    }

    /// Maps any error thrown by a command; nil for errors that ArgumentParser reports itself.
    init?(any error: any Error) {
        switch error {
        case let error as CommandFailure: self = error
        case let error as ConfigurationError: self.init(error)
        case let error as LocalAPIError: self.init(error)
        default:
            guard let failure = Self.ofDaemon(error) else { return nil }
            self = failure
        }
    }

    /// Why the daemon could not start or continue. An error that only a person can fix gets its own status, so a
    /// supervisor does not restart the daemon forever.
    private static func ofDaemon(_ error: any Error) -> CommandFailure? {
        switch error {
        case let error as TokenFileError:
            CommandFailure(error.isDiskFull ? .temporaryFailure : .badConfiguration, error.message)
        case CacheError.invalid(let problems): invalid(problems)
        case CacheError.incompatible(let message): CommandFailure(.badConfiguration, TerminalText.line(message))
        case CacheError.damaged(let message): CommandFailure(.badData, TerminalText.line(message))
        case CacheError.unwritable(let message): CommandFailure(.temporaryFailure, TerminalText.line(message))
        case let error as StateError where error.isOwnedByAnother: CommandFailure(.notAllowed, error.message)
        case let error as StateError:
            CommandFailure(error.isOpenToOthers ? .badConfiguration : .temporaryFailure, error.message)
        case ServerError.unusable(let message), ServerError.notPermitted(let message):
            CommandFailure(.badConfiguration, message)
        case let error as ServerError: CommandFailure(.temporaryFailure, "\(error)")
        case ContentError.failed(let message): CommandFailure(.temporaryFailure, TerminalText.line(message))
        case is CacheError, is JSONError: nil
        // SQLite's own error, as of a disk that fails while a file is closed.
        default: (CacheError.classified(error) as? CacheError).flatMap(ofDaemon)
        }
    }

    /// Adds one line per field error that the detail does not already contain.
    private static func message(of problem: LocalAPIProblem) -> String {
        let others = problem.errors.filter { $0.message != problem.message }
        let fields = others.map { $0.field.isEmpty ? $0.message : "\($0.field): \($0.message)" }
        let more = fields.filter { !problem.message.contains($0) }
        // Each on its line: a compromised daemon must not write others in this program's name.
        return ([problem.message] + more.map { "  \($0)" }).map(TerminalText.line).joined(separator: "\n")
    }
}

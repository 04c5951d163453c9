import ArgumentParser
import CacheStore
import LocalAPI
internal import SQLiteStore
import SocketServer
import Upstream

/// Why a command did not do what it was asked: what a person is told, and the status for scripts.
struct CommandFailure: Error, Equatable {
    var status: CommandStatus
    /// Empty when there is nothing to add.
    var message: String

    init(_ status: CommandStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    init(_ error: ConfigurationError) {
        self.init(.badConfiguration, "\(error)")
    }

    init(_ error: LocalAPIError) {
        let message =
            switch error {
            case .unreachable(let message), .unexpected(let message): message
            case .problem(let problem): Self.message(of: problem)
            }
        self.init(CommandStatus(error), message)
    }

    /// Sorts whatever a command threw; nil for what ArgumentParser itself has to say.
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

    /// Why a daemon could not start or go on. What only a person can mend ends with a status that says so, so that a
    /// supervisor does not try again and again.
    private static func ofDaemon(_ error: any Error) -> CommandFailure? {
        switch error {
        case let error as TokenFileError: CommandFailure(.badConfiguration, error.message)
        case CacheError.incompatible(let message): CommandFailure(.badConfiguration, message)
        case CacheError.damaged(let message): CommandFailure(.badData, message)
        case CacheError.unwritable(let message): CommandFailure(.temporaryFailure, message)
        case let error as StateError:
            CommandFailure(error.isOwnedByAnother ? .notAllowed : .temporaryFailure, error.message)
        case ServerError.unusable(let message), ServerError.notPermitted(let message):
            CommandFailure(.badConfiguration, message)
        case let error as ServerError: CommandFailure(.temporaryFailure, "\(error)")
        default: nil
        }
    }

    /// One line a field where the daemon tells more than its detail already does.
    private static func message(of problem: LocalAPIProblem) -> String {
        let others = problem.errors.filter { $0.message != problem.message }
        let fields = others.map { $0.field.isEmpty ? $0.message : "\($0.field): \($0.message)" }
        let more = fields.filter { !problem.message.contains($0) }
        return ([problem.message] + more.map { "  \($0)" }).joined(separator: "\n")
    }
}

import ArgumentParser
import Foundation
import Glibc
import JSONText

/// The command-line tool: `run` is the daemon, most other commands talk to it.
struct RepairminderSync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repairminder-sync",
        abstract: "Cache a remote API locally, sync changes both ways and serve it on this machine.",
        discussion: """
            Exit status:
            \(CommandStatus.allCases.map { "  \($0.rawValue)  \($0.meaning)" }.joined(separator: "\n"))
            """,
        version: ProgramVersion.text,
        groupedSubcommands: [
            CommandGroup(
                name: "Daemon",
                subcommands: [
                    RunCommand.self, DemoCommand.self, LoginCommand.self, LogoutCommand.self, InitCommand.self,
                    GenerateCommand.self, CheckConfigCommand.self, BundleCommand.self, DoctorCommand.self,
                    BackupCommand.self, RestoreCommand.self, DatabaseCommand.self, ImportMirrorCommand.self,
                    ThumbnailCommand.self,
                ]),
            CommandGroup(
                name: "Sync",
                subcommands: [
                    StatusCommand.self, SyncCommand.self, PauseCommand.self, ResumeCommand.self, WatchCommand.self,
                    TailCommand.self, EventsCommand.self, FeedCommand.self, OpenCommand.self, DriftCommand.self,
                    DashboardCommand.self, RemindersCommand.self, HooksCommand.self,
                ]),
            CommandGroup(
                name: "Queue",
                subcommands: [QueueCommand.self, PendingCommand.self, ConflictsCommand.self, DiffCommand.self]),
            CommandGroup(
                name: "Record",
                subcommands: [
                    ListCommand.self, SearchCommand.self, GetCommand.self, EditCommand.self, HistoryCommand.self,
                    SetCommand.self, CreateCommand.self, DeleteCommand.self, APICommand.self, ImportCommand.self,
                    ExportCommand.self,
                ]),
        ])

    /// Runs a parsed command and ends the process.
    static func run(_ command: any ParsableCommand) async -> Never {
        do {
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                var command = command
                try command.run()
            }
        } catch {
            end(with: error)
        }
        Glibc.exit(CommandStatus.done.rawValue)
    }

    /// Answers a shell that completes a word, and ends the process.
    static func complete() async -> Never {
        do {
            _ = try await asyncParseAsRoot()
        } catch {
            end(with: error)
        }
        Glibc.exit(CommandStatus.done.rawValue)
    }

    /// Whether errors are printed as JSON: after `--json`, which is no value of an argument.
    static func wantsJSON(_ arguments: [String]) -> Bool { arguments.prefix { $0 != "--" }.contains("--json") }

    /// Prints the error, as JSON with `--json`, and exits with its `CommandStatus`.
    static func end(with error: any Error) -> Never {
        // The command has already printed its message.
        if let code = error as? ExitCode { Glibc.exit(code.rawValue) }
        // The prefix marks an error in the journal (sd-daemon(3)).
        let isJournal = StandardStream.error.isJournal(environment: ProcessInfo.processInfo.environment)
        let ending = ending(with: error, CommandLine.arguments, journalPrefix: isJournal ? "<3>" : "")
        if ending.status == .done {
            do { try StandardStream.output.writeResult(ending.text + "\n") } catch { end(with: error) }
        } else if !ending.text.isEmpty {
            StandardStream.error.write(ending.text + "\n")
        }
        Glibc.exit(ending.status.rawValue)
    }

    /// The exit status, and what is printed: to standard output if it was help that ended the command.
    static func ending(
        with error: any Error, _ arguments: [String], journalPrefix: String = ""
    ) -> (status: CommandStatus, text: String) {
        if var failure = CommandFailure(any: error) {
            failure.message = Manual.located(failure.message)
            if failure.message.isEmpty { return (failure.status, "") }
            let text = "\(journalPrefix)repairminder-sync: \(failure.message)"
            return (failure.status, wantsJSON(arguments) ? failure.document.text : text)
        }
        let code = exitCode(for: error)
        var text = fullMessage(for: error)
        if code.isSuccess { return (.done, UsageText.wrapped(text)) }
        var failure = CommandFailure(code == .validationFailure ? .usage : .internalError, message(for: error))
        if let hint = UsageText.hint(on: failure.message) {
            text = text.replacing(failure.message, with: failure.message + hint, maxReplacements: 1)
            failure.message += hint
        }
        return (failure.status, wantsJSON(arguments) ? failure.document.text : UsageText.wrapped(text))
    }
}

import ArgumentParser
import CLinux
import Foundation
import Glibc

/// The command-line tool: `run` is the daemon, most other commands talk to it.
@main
struct RepairminderSync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repairminder-sync",
        abstract: "Cache a remote API locally, sync changes both ways and serve it on this machine.",
        discussion: """
            Exit status:
            \(CommandStatus.allCases.map { "  \($0.rawValue)  \($0.meaning)" }.joined(separator: "\n"))
            """,
        version: ProgramVersion.text,
        subcommands: [
            RunCommand.self, LoginCommand.self, StatusCommand.self, SyncCommand.self,
            QueueCommand.self, PendingCommand.self, ConflictsCommand.self,
            DriftCommand.self, DashboardCommand.self, RemindersCommand.self,
            WatchCommand.self, EventsCommand.self, HistoryCommand.self,
            SearchCommand.self, ExportCommand.self,
            ListCommand.self, GetCommand.self, SetCommand.self, CreateCommand.self, DeleteCommand.self,
            CheckConfigCommand.self, DoctorCommand.self, BackupCommand.self, RestoreCommand.self,
            ImportMirrorCommand.self, ThumbnailCommand.self,
        ])

    static func main() async {
        // A reader that stops early (`| head`) ends the program silently, even if a parent ignores SIGPIPE.
        signal(SIGPIPE, SIG_DFL)
        // Memory holds tokens, passwords and records: no core dumps, whatever the limits say, and no access for other
        // processes of the same user.
        _ = clinux_prctl(PR_SET_DUMPABLE, 0)
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            Self.end(with: error)
        }
    }

    /// Prints the error and exits with its `CommandStatus`.
    private static func end(with error: any Error) -> Never {
        if let failure = CommandFailure(any: error) {
            if !failure.message.isEmpty {
                // The prefix marks an error in the journal (sd-daemon(3)).
                let isJournal = StandardStream.error.isJournal(environment: ProcessInfo.processInfo.environment)
                StandardStream.error.write("\(isJournal ? "<3>" : "")repairminder-sync: \(failure.message)\n")
            }
            Glibc.exit(failure.status.rawValue)
        }
        // The command has already printed its message.
        if let code = error as? ExitCode { Glibc.exit(code.rawValue) }
        let code = exitCode(for: error)
        let message = fullMessage(for: error)
        if code.isSuccess {
            StandardStream.output.write(message + "\n")
            Glibc.exit(CommandStatus.done.rawValue)
        }
        if !message.isEmpty { StandardStream.error.write(message + "\n") }
        Glibc.exit(code == .validationFailure ? CommandStatus.usage.rawValue : CommandStatus.internalError.rawValue)
    }
}

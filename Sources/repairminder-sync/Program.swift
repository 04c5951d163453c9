import ArgumentParser
import CLinux
import Dispatch
import Glibc
import Pictures
import SQLiteStore
import ServiceManager

/// Where the process starts: what must happen before there is a second thread, then the command.
@main
enum Program {
    static func main() {
        StandardStream.holdClosed()
        // A reader that stops early (`| head`) ends the program silently, even if a parent ignores SIGPIPE.
        signal(SIGPIPE, SIG_DFL)
        // Under a parent that ignores it, the kernel would keep no program's status.
        signal(SIGCHLD, SIG_DFL)
        if CommandLine.arguments.dropFirst().first == ThumbnailCommand.name { ThumbnailProcess.becomeExpendable() }
        // libcurl would write the keys of its connections into the file that this names. Root can have the variable
        // from another user (`su`).
        unsetenv("SSLKEYLOGFILE")
        Environment.ofThisProcess().forgetPlantedModules()
        // Memory holds tokens, passwords and records: no core dumps, whatever the limits say, and no access for other
        // processes of the same user.
        _ = clinux_prctl(PR_SET_DUMPABLE, 0)
        if CommandLine.arguments.dropFirst().first == "---completion" {
            Task.detached { await RepairminderSync.complete() }
            dispatchMain()
        }
        do {
            if let mistake = mistake(in: Array(CommandLine.arguments.dropFirst())) {
                throw CommandFailure(.usage, mistake)
            }
            var command = try RepairminderSync.parseAsRoot()
            if var state = command as? any StateCommand {
                try state.becomeOwner()
                command = state
            }
            // It needs no second thread, and gives up the right to have one.
            if let thumbnail = command as? ThumbnailCommand { thumbnail.run() }
            // A daemon has the limit of its service.
            if !(command is RunCommand || command is DemoCommand) { SQLiteLibrary.limitMemory() }
            let ready = command
            // `main` never returns, so there is no task for the command to be a child of.
            Task.detached { await RepairminderSync.run(ready) }
        } catch {
            // A mistake in the service's unit. Its manager does not restart it either, unless a caller waits.
            InheritedSockets(environment: Environment.ofThisProcess().variables, pid: getpid()).refuseCallers()
            RepairminderSync.end(with: error)
        }
        dispatchMain()
    }

    /// Why the words are no command, where the parser would not say it well.
    private static func mistake(in words: [String]) -> String? {
        FlagValues.emptyWord(in: words) ?? CommandNames.mistake(in: words, of: RepairminderSync.self)
            ?? CommandNames.lateWord(in: words, of: RepairminderSync.self) ?? CommandNames.joinedID(in: words)
            ?? FlagValues.mistake(in: words)
    }
}

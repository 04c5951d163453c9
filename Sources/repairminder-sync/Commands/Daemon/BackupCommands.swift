import ArgumentParser
import CacheStore
import EntitySchema
internal import SQLiteStore

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the configured database to a file and verify the copy.",
        discussion: """
            Works whether or not the daemon is running; run it as the daemon's user or as root. The file must not \
            exist yet. It does not contain the secret key: back up secret.key separately.
            """)

    @Argument(help: "The file to create.")
    var file: String

    @OptionGroup(title: "Configuration") var options: ConfigurationOptions

    func run() async throws {
        let target = Environment.ofThisProcess().absolute(file)
        try DatabaseCopy.make(of: StateFiles(options).database(), at: target)
        StandardStream.output.write("backed up to \(target)\n")
    }
}

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Replace the database with a backup; the daemon must be stopped.",
        discussion: """
            The replaced database is kept next to the new one under a dated name, and its unsent changes stay queued. \
            Changes that exist only in the backup may have been sent since; they are handled like requests whose \
            response was lost.
            """)

    @Argument(help: "A file created by backup, or one from the backups directory in state_dir.")
    var file: String

    @OptionGroup(title: "Configuration") var options: ConfigurationOptions

    func run() async throws {
        let files = try StateFiles(options)
        let backup = Environment.ofThisProcess().absolute(file)
        let report = try await files.whileStopped {
            guard CacheOrigin(ofDatabaseAt: backup).map(files.origin.includes) == true else {
                throw CommandFailure(.badData, "\(backup) is not a backup of \(files.origin)")
            }
            let account = try DatabaseSummary(ofDatabaseAt: backup).account
            let path = files.database(of: account)
            try DatabaseFile(path).finishReplacing()
            let report = try await DatabaseRestore(
                path: path, schema: files.schema, sealer: files.secretKey.sealer(),
                reminderDays: files.configuration.reminderDays, makeID: StateFiles.makeID
            ).run(from: backup, at: StateFiles.now())
            try files.directory.use(path)
            return report
        }
        var lines = ["restored; \(report.queued.counted("change is", "changes are")) queued"]
        if report.uncertain > 0 {
            lines.append("\(report.uncertain) of them may have been sent since the backup was made")
        }
        if let replaced = report.replaced { lines.append("the previous database is \(replaced)") }
        StandardStream.output.write(lines.joined(separator: "\n") + "\n")
    }
}

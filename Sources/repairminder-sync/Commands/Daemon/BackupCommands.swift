import ArgumentParser
import CacheStore
import EntitySchema
internal import SQLiteStore

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the database of this configuration into a file and check the copy.",
        discussion: """
            Works while the daemon runs and while it does not; run it as the daemon's user or as root. The file must not \
            be there yet. It has no key of secrets: keep secret.key elsewhere.
            """)

    @Argument(help: "The file to make.")
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
        commandName: "restore", abstract: "Put a backup in the place of the database; the daemon must be stopped.",
        discussion: """
            What is replaced is kept beside it under a dated name. Unsent changes of the replaced database stay queued; \
            those that only the backup has may have been sent since, and are treated like attempts whose answer was lost.
            """)

    @Argument(help: "A file that backup made, or one from the folder backups in state_dir.")
    var file: String

    @OptionGroup(title: "Configuration") var options: ConfigurationOptions

    func run() async throws {
        let files = try StateFiles(options)
        let backup = Environment.ofThisProcess().absolute(file)
        let report = try await files.whileStopped {
            guard CacheOrigin(ofDatabaseAt: backup).map(files.origin.includes) == true else {
                throw CommandFailure(.badData, "\(backup) is no backup of \(files.origin)")
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
        var lines = ["restored; \(report.queued) changes are queued"]
        if report.uncertain > 0 {
            lines.append("\(report.uncertain) of them may have been sent since the backup was made")
        }
        if let replaced = report.replaced { lines.append("the former database is \(replaced)") }
        StandardStream.output.write(lines.joined(separator: "\n") + "\n")
    }
}

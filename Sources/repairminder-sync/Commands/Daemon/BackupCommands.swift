import ArgumentParser
import CacheStore
import EntitySchema
import Foundation
import Glibc
import SQLiteStore
import SystemCalls

struct BackupCommand: AsyncParsableCommand, StateCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the configured database to a file and verify the copy.",
        discussion: """
            Works whether or not the daemon is running; run it as the daemon's user or as root. The file must not \
            exist yet. It does not contain the secret key: back up secret.key separately.
            """)

    @Argument(help: "The file to create.")
    var file: String

    @OptionGroup var options: BriefConfigurationOptions

    private var target: NamedFile?

    private enum CodingKeys: CodingKey {
        case file, options
    }

    mutating func openAsRoot() throws { target = try NamedFile(creating: path) }

    func run() async throws {
        let files = try StateFiles(options)
        if target == nil, access(path, F_OK) == 0 {
            throw CacheError.unwritable("\(path) already exists; name another file")
        }
        // SQLite works only inside state_dir: beside the file, others could plant a journal that has it delete any file.
        let copy = files.temporaryPath()
        defer { unlink(copy) }
        var made = target
        do {
            try await Self.copy(files.database(), to: copy)
            let file = try made ?? NamedFile(creating: NamedFile.withoutLinks(path))
            made = file
            try file.fill(from: copy)
        } catch {
            // Not deleted by its name, which may lead elsewhere by now.
            if made != nil { StandardStream.error.write("\(path) is empty: delete it\n") }
            throw error
        }
        try StandardStream.output.writeResult("backed up to \(path)\n")
    }

    private static func copy(_ source: String, to target: String) async throws {
        try await ProgressLine.showing(ProgressLine.copy(of: source, to: target)) {
            try DatabaseCopy.make(of: source, at: target)
        }
    }

    private var path: String { Environment.ofThisProcess().absolute(file) }
}

struct RestoreCommand: AsyncParsableCommand, StateCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Replace the database with a backup; the daemon must be stopped.",
        discussion: """
            The replaced database is kept next to the new one under a dated name, and its unsent changes stay queued. \
            Changes that exist only in the backup may have been sent since; they are handled like requests whose \
            response was lost.
            """)

    @Argument(help: "A file created by backup, or one from the backups directory in state_dir.")
    var file: String

    @OptionGroup var options: BriefConfigurationOptions

    private var source: NamedFile?

    private enum CodingKeys: CodingKey {
        case file, options
    }

    /// Nil for a file that only the state directory's owner may name, such as one behind a link.
    mutating func openAsRoot() throws {
        // The owner may not be able to look into the file's folder.
        try requireAlone(try options.configuration(environment: .ofThisProcess()))
        source = NamedFile(reading: path)
    }

    func run() async throws {
        let files = try StateFiles(options)
        try requireFile()
        try requireAlone(files.configuration)
        let report = try await files.whileStopped { try await restore(files) }
        var lines = ["restored; \(report.queued.counted("change is", "changes are")) queued"]
        if report.since > 0 { lines.append("\(report.since) of them were made since the backup was made") }
        if !report.lost.isEmpty {
            let ids = report.lost.prefix(20).map { "\($0)" }.joined(separator: ", ")
            lines.append(
                "\(report.lost.count.counted("change", "changes")) could not be read and may be unsent; their numbers: \(ids)"
                    + (report.lost.count > 20 ? ", …" : ""))
        }
        if report.uncertain > 0 {
            lines.append("\(report.uncertain) of them may have been sent since the backup was made")
        }
        if let replaced = report.replaced { lines.append("the previous database is \(replaced)") }
        try StandardStream.output.writeResult(lines.joined(separator: "\n") + "\n")
    }

    private var path: String { Environment.ofThisProcess().absolute(file) }

    // MARK: Steps

    private func restore(_ files: StateFiles) async throws -> DatabaseRestore.Report {
        if let own = ownFile(in: files.configuration), access(own, R_OK) == 0 {
            return try await Self.restore(own, files)
        }
        guard let source = source ?? NamedFile(following: path) else {
            throw CommandFailure(.badData, "\(path) cannot be read; check its name and permissions")
        }
        // Beside the file, others could plant a log that SQLite would take for a part of it.
        let copy = files.temporaryPath()
        defer { DatabaseFile(copy).delete() }
        try await ProgressLine.showing(ProgressLine.file(copy, of: source.size, "reading")) {
            try source.copy(to: copy)
        }
        do {
            return try await Self.restore(copy, files)
        } catch {
            guard var failure = CommandFailure(any: error) else { throw error }
            failure.message = failure.message.replacing(copy, with: path)
            throw failure
        }
    }

    private static func restore(_ backup: String, _ files: StateFiles) async throws -> DatabaseRestore.Report {
        try DatabaseRestore.requireTables(in: backup, files.schema)
        guard let origin = CacheOrigin(ofDatabaseAt: backup) else {
            throw CommandFailure(
                .badData, "\(backup) is not a whole backup: it is cut off, damaged or something else; name another file"
            )
        }
        guard files.origin.includes(origin) else {
            throw CommandFailure(
                .badData, "\(backup) is not a backup of \(files.origin); name another file, or the right configuration")
        }
        let account = try DatabaseSummary(ofDatabaseAt: backup).account
        let path = files.database(of: account)
        try DatabaseFile(path).finishReplacing()
        let restore = DatabaseRestore(
            path: path, schema: files.schema, sealer: try files.secretKey.sealer(),
            reminderDays: files.configuration.reminderDays, makeID: StateFiles.makeID)
        let report = try await ProgressLine.showing(ProgressLine.restore(of: backup, to: path)) {
            try await restore.run(from: backup, at: StateFiles.now())
        }
        try files.directory.use(path)
        return report
    }

    // MARK: The file

    /// The real path of a file inside the state directory, where only the owner can put others beside it; else nil.
    private func ownFile(in configuration: Configuration) -> String? {
        guard let file = Files.realPath(of: path), let folder = Files.realPath(of: configuration.stateDirectory) else {
            return nil
        }
        return file.hasPrefix(folder + "/") ? file : nil
    }

    /// Only the file itself is read. A database that was copied with its log would lose what is in there, and which of the two
    /// this is cannot be seen: others may have put the log there.
    private func requireAlone(_ configuration: Configuration) throws(CommandFailure) {
        guard ownFile(in: configuration) == nil else { return }
        // SQLite puts them beside the real file, whatever links lead there.
        let file = Files.realPath(of: path) ?? path
        for log in ["-wal", "-journal"].map({ file + $0 }) {
            guard let status = stat(ofLink: log), status.st_size > 0 else { continue }
            throw CommandFailure(
                .badData,
                "beside \(path) is \(log), which restore does not read; make the backup with `repairminder-sync backup`, "
                    + "or move it into another directory if the other file is not part of it")
        }
    }

    /// Opening a pipe would wait for its writer, with the daemon stopped.
    private func requireFile() throws {
        guard let status = stat(of: path), !status.isFile else { return }
        throw CommandFailure(.badData, "\(path) is not a file; name a backup that `repairminder-sync backup` has made")
    }
}

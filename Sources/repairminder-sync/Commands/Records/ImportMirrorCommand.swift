import ArgumentParser
import CacheStore
import EntitySchema
import Foundation
import JSONText
import SQLiteStore
import SystemCalls

struct ImportMirrorCommand: AsyncParsableCommand, StateCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-mirror",
        abstract: "Fill an empty cache from the mirror's files; the daemon must be stopped.",
        discussion: """
            Records are imported as last received from the server, and the next sync brings them up to date. Unsent \
            changes are queued again with their old idempotency keys, so none is applied twice. A cache that is not \
            empty is not changed.
            """)

    @Argument(help: ArgumentHelp("The mirror's directory; by default mirror.directory.", valueName: "folder"))
    var folder: String?

    @OptionGroup var options: BriefConfigurationOptions

    func run() async throws {
        let files = try StateFiles(options, makesFolder: true)
        let path = folder.map { Environment.ofThisProcess().absolute($0) } ?? files.configuration.mirror.directory
        do {
            let counts = try await files.whileStopped { try await Self.importMirror(MirrorFolder(path: path), files) }
            let records = counts.records.counted("record", "records")
            let changes = counts.changes.counted("queued change", "queued changes")
            try StandardStream.output.writeResult("imported \(records) and \(changes)\n")
        } catch let error as MirrorError {
            throw CommandFailure(.temporaryFailure, TerminalText.line(error.message))
        } catch CacheError.invalid(let problems) {
            throw CommandFailure.invalid(problems, in: path)
        }
    }

    private static func importMirror(
        _ mirror: MirrorFolder, _ files: StateFiles
    ) async throws -> (records: Int, changes: Int) {
        let origin = files.origin
        guard let written = try mirror.origin() else {
            throw CommandFailure(.badData, "no mirror found in \(mirror.path); pass the mirror's directory")
        }
        guard written.schema == origin.schema, written.upstream == origin.upstream else {
            throw CommandFailure(
                .badData,
                "the mirror in \(mirror.path) belongs to another schema or upstream than \(origin); pass the "
                    + "right directory or configuration")
        }
        let path = files.database(of: written.account)
        try DatabaseFile(path).finishReplacing()
        try DatabaseRestore.requireOwnSQL(in: path, files.schema)
        if stat(ofLink: path) != nil { try requireEmpty(path, files) }
        // Beside it, so that an interrupted import changes nothing.
        let fresh = path + ".restore"
        DatabaseFile(fresh).delete()
        do {
            let counts = try await filled(fresh, from: mirror, written.account, files)
            try DatabaseFile(path).replace(with: fresh, .replaced, at: StateFiles.now())
            try files.directory.use(path)
            return counts
        } catch {
            DatabaseFile(fresh).delete()
            throw error
        }
    }

    /// A new database at `path` with what the mirror has, closed.
    private static func filled(
        _ path: String, from mirror: MirrorFolder, _ account: String?, _ files: StateFiles
    ) async throws -> (records: Int, changes: Int) {
        let store = try store(path, files)
        let counts: (records: Int, changes: Int)
        do {
            counts = try await fill(store, from: mirror, files.schema)
            try await store.claim(for: files.origin)
            if let account { try await store.setSetting("account", to: account) }
        } catch {
            try? store.close()
            throw error
        }
        try store.close()
        return counts
    }

    private static func store(_ path: String, _ files: StateFiles) throws -> CacheStore {
        try CacheStore(
            path: path, schema: files.schema, sealer: files.secretKey.sealer(),
            settings: CacheSettings(reminderDays: files.configuration.reminderDays), makeID: StateFiles.makeID)
    }

    private static func requireEmpty(_ path: String, _ files: StateFiles) throws {
        let store = try store(path, files)
        defer { try? store.close() }
        guard try store.isEmpty() else {
            throw MirrorError(
                message: "the cache is not empty, and an import would mix its records with the mirror's; "
                    + "move the database out of state_dir first")
        }
    }

    private static func fill(
        _ store: CacheStore, from mirror: MirrorFolder, _ schema: EntitySchema
    ) async throws -> (records: Int, changes: Int) {
        let now = StateFiles.now()
        // Everything is read before anything is written, so a damaged file changes nothing.
        let queue = try mirror.queue()
        let reminders = try mirror.reminders()
        let files = try schema.entities.map { ($0.name, try mirror.records(of: $0.name)) }
        var count = 0
        for (entity, records) in files {
            let pending = Set(queue.filter { $0.entity == entity }.map(\.recordKey))
            let key = schema[entity]?.key ?? "id"
            // Records with unsent changes are imported with those changes, as the server last had them.
            var synced = records.filter { !pending.contains($0.shown(key)) }[...]
            while !synced.isEmpty {
                count += try await store.importRecords(Array(synced.prefix(500)), of: entity, at: now)
                synced = synced.dropFirst(500)
            }
        }
        let changes = try await store.importChanges(queue, at: now)
        try await store.importReminders(reminders)
        return (count, changes)
    }
}

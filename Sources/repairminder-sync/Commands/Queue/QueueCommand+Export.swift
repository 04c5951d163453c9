import ArgumentParser
import CacheStore
import Foundation
import SQLiteStore

extension QueueCommand {
    struct Export: AsyncParsableCommand, StateCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Export the queue to a file for another machine; the daemon must be stopped.",
            discussion: """
                Secrets stay encrypted: the other machine needs this machine's secret.key. Do not start this daemon \
                again after the other machine has imported the file: both would send the changes.
                """)

        @Argument(help: "The file to create, with mode 0600.")
        var file: String

        @OptionGroup var options: BriefConfigurationOptions

        private var named: NamedFile?

        private enum CodingKeys: CodingKey {
            case file, options
        }

        mutating func openAsRoot() throws { named = try NamedFile(creating: target) }

        func run() async throws {
            let files = try StateFiles(options)
            guard named != nil || !FileManager.default.fileExists(atPath: target) else {
                throw CommandFailure(.temporaryFailure, "\(target) already exists; choose another file")
            }
            var made = named
            let queue: ExportedQueue
            do {
                queue = try await files.whileStopped { try ExportedQueue(ofDatabaseAt: files.database()) }
                let file = try made ?? NamedFile(creating: NamedFile.withoutLinks(target))
                made = file
                try file.write(Array(queue.text().utf8))
            } catch {
                // Not deleted by its name, which may lead elsewhere by now.
                if made != nil { StandardStream.error.write("\(target) is empty: delete it\n") }
                throw error
            }
            let count = queue.changes.count.counted("change", "changes")
            try StandardStream.output.writeResult("exported \(count) to \(target)\n")
        }

        private var target: String { Environment.ofThisProcess().absolute(file) }
    }

    struct Import: AsyncParsableCommand, StateCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Import the changes that queue export wrote; the daemon must be stopped.",
            discussion: "Every change keeps its idempotency key. Importing the same file again changes nothing.")

        @Argument(help: "The file created by queue export.")
        var file: String

        @OptionGroup var options: BriefConfigurationOptions

        private var named: NamedFile?

        private enum CodingKeys: CodingKey {
            case file, options
        }

        /// Nil for a file that only the state directory's owner may name, such as one behind a link.
        mutating func openAsRoot() throws { named = NamedFile(reading: source) }

        private var source: String { Environment.ofThisProcess().absolute(file) }

        /// In bytes: half a million usual changes.
        private static let largest = 256 << 20

        func run() async throws {
            let files = try StateFiles(options)
            guard let text = try (NamedFile(following: source) ?? named)?.text(atMost: Self.largest) else {
                throw CommandFailure(.badData, "\(source) cannot be read; check its name and permissions")
            }
            let count = try await files.whileStopped { try await Self.take(text, source, files) }
            let added = count.added.counted("change", "changes")
            let known = count.known.counted("was", "were")
            try StandardStream.output.writeResult("imported \(added); \(known) already queued\n")
        }

        private static func take(_ text: String, _ source: String, _ files: StateFiles) async throws -> ExportedCount {
            do {
                let queue = try ExportedQueue(text: text)
                let origin = CacheOrigin(schema: queue.origin.schema, upstream: queue.origin.upstream)
                guard files.origin.includes(origin) else {
                    throw CommandFailure(
                        .badData,
                        TerminalText.line("\(source) belongs to \(origin), but this daemon to \(files.origin)")
                            + "; name another file, or the right configuration")
                }
                let store = try await store(queue.origin.account, files)
                defer { try? store.close() }
                return try await store.take(queue, at: StateFiles.now())
            } catch CacheError.invalid(let problems) {
                throw CommandFailure.invalid(problems, in: source)
            }
        }

        /// The cache of the account that the changes belong to, created if there is none.
        private static func store(_ account: String?, _ files: StateFiles) async throws -> CacheStore {
            let path = files.database(of: account)
            try DatabaseFile(path).finishReplacing()
            try DatabaseRestore.requireOwnSQL(in: path, files.schema)
            let store = try CacheStore(
                path: path, schema: files.schema, sealer: files.secretKey.sealer(), makeID: StateFiles.makeID)
            try await store.claim(for: files.origin)
            if let account, try store.account() == nil { try await store.setSetting("account", to: account) }
            try files.directory.use(path)
            return store
        }
    }
}

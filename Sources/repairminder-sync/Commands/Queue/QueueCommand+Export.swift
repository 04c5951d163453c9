import ArgumentParser
import CacheStore
import Foundation
internal import SQLiteStore
import Upstream

extension QueueCommand {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Export the queue to a file for another machine; the daemon must be stopped.",
            discussion: """
                Secrets stay encrypted: the other machine needs this machine's secret.key. Do not start this daemon \
                again after the other machine has imported the file: both would send the changes.
                """)

        @Argument(help: "The file to create, with mode 0600.")
        var file: String

        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run() async throws {
            let files = try StateFiles(options)
            let target = Environment.ofThisProcess().absolute(file)
            guard !FileManager.default.fileExists(atPath: target) else {
                throw CommandFailure(.temporaryFailure, "\(target) already exists; choose another file")
            }
            let queue = try await files.whileStopped { try ExportedQueue(ofDatabaseAt: files.database()) }
            try PrivateFile(path: target).write(Array(queue.text().utf8))
            StandardStream.output.write("exported \(queue.changes.count.counted("change", "changes")) to \(target)\n")
        }
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Import the changes that queue export wrote; the daemon must be stopped.",
            discussion: "Every change keeps its idempotency key. Importing the same file again changes nothing.")

        @Argument(help: "The file created by queue export.")
        var file: String

        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run() async throws {
            let files = try StateFiles(options)
            let source = Environment.ofThisProcess().absolute(file)
            guard let text = try? String(contentsOfFile: source, encoding: .utf8) else {
                throw CommandFailure(.badData, "\(source) cannot be read")
            }
            let count = try await files.whileStopped { try await Self.take(text, source, files) }
            let added = count.added.counted("change", "changes")
            let known = count.known.counted("was", "were")
            StandardStream.output.write("imported \(added); \(known) already queued\n")
        }

        private static func take(_ text: String, _ source: String, _ files: StateFiles) async throws -> ExportedCount {
            do {
                let queue = try ExportedQueue(text: text)
                let origin = CacheOrigin(schema: queue.origin.schema, upstream: queue.origin.upstream)
                guard files.origin.includes(origin) else {
                    throw CommandFailure(.badData, "\(source) belongs to \(origin), but this daemon to \(files.origin)")
                }
                let store = try await store(queue.origin.account, files)
                defer { try? store.close() }
                return try await store.take(queue, at: StateFiles.now())
            } catch CacheError.invalid(let problems) {
                let reasons = problems.map { "\($0.field): \($0.message)" }
                throw CommandFailure(.badData, "\(source): \(reasons.joined(separator: "; "))")
            }
        }

        /// The cache of the account that the changes belong to, created if there is none.
        private static func store(_ account: String?, _ files: StateFiles) async throws -> CacheStore {
            let path = files.database(of: account)
            try DatabaseFile(path).finishReplacing()
            let store = try CacheStore(
                path: path, schema: files.schema, sealer: files.secretKey.sealer(), makeID: StateFiles.makeID)
            try await store.claim(for: files.origin)
            if let account, try store.setting("account") == nil { try await store.setSetting("account", to: account) }
            try files.directory.use(path)
            return store
        }
    }
}

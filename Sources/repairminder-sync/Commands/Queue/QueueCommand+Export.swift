import ArgumentParser
import CacheStore
import Foundation
internal import SQLiteStore
import Upstream

extension QueueCommand {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write the queue alone into a file, for another machine; the daemon must be stopped.",
            discussion: """
                Secrets in it stay sealed: the other machine needs this one's secret.key. Do not start this daemon again \
                after the other has taken the file in: both would send the changes.
                """)

        @Argument(help: "The file to make, of mode 0600.")
        var file: String

        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run() async throws {
            let files = try StateFiles(options)
            let target = Environment.ofThisProcess().absolute(file)
            guard !FileManager.default.fileExists(atPath: target) else {
                throw CommandFailure(.temporaryFailure, "\(target) is there already; name another file")
            }
            let queue = try await files.whileStopped { try ExportedQueue(ofDatabaseAt: files.database()) }
            try PrivateFile(path: target).write(Array(queue.text().utf8))
            StandardStream.output.write("wrote \(queue.changes.count) changes to \(target)\n")
        }
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take in the changes that queue export wrote; the daemon must be stopped.",
            discussion: "Every change keeps its idempotency key. Taking the same file in again changes nothing.")

        @Argument(help: "The file that queue export made.")
        var file: String

        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run() async throws {
            let files = try StateFiles(options)
            let source = Environment.ofThisProcess().absolute(file)
            guard let text = try? String(contentsOfFile: source, encoding: .utf8) else {
                throw CommandFailure(.badData, "\(source) cannot be read")
            }
            let count = try await files.whileStopped { try await Self.take(text, source, files) }
            StandardStream.output.write("took in \(count.added) changes; \(count.known) were here before\n")
        }

        private static func take(_ text: String, _ source: String, _ files: StateFiles) async throws -> ExportedCount {
            do {
                let queue = try ExportedQueue(text: text)
                let origin = CacheOrigin(schema: queue.origin.schema, upstream: queue.origin.upstream)
                guard files.origin.includes(origin) else {
                    throw CommandFailure(.badData, "\(source) is of \(origin), this daemon of \(files.origin)")
                }
                let store = try await store(queue.origin.account, files)
                defer { try? store.close() }
                return try await store.take(queue, at: StateFiles.now())
            } catch CacheError.invalid(let problems) {
                let reasons = problems.map { "\($0.field): \($0.message)" }
                throw CommandFailure(.badData, "\(source): \(reasons.joined(separator: "; "))")
            }
        }

        /// The cache of the account that the changes belong to, made where there is none.
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

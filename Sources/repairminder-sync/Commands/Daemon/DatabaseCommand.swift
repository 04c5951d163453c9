import ArgumentParser
import CacheStore
import SQLiteStore

/// What a person may change in the database itself.
///
/// With other tools root would follow links that the owner of the state directory has planted, and run the SQL that is
/// stored in the file.
struct DatabaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "database",
        abstract: "Set the database in use aside, or change its upstream or key; the daemon must be stopped.",
        subcommands: [SetAside.self, MoveUpstream.self, ForgetKey.self])

    /// Runs `body` on the database at `path` while no daemon can open it.
    private static func change<Result>(
        _ files: StateFiles, at path: (StateFiles) throws -> String, _ body: (ClosedDatabase, String) throws -> Result
    ) async throws -> Result {
        try await files.whileStopped {
            let path = try path(files)
            try DatabaseFile(path).finishReplacing()
            return try body(ClosedDatabase(path: path), path)
        }
    }
}

extension DatabaseCommand {
    struct SetAside: AsyncParsableCommand, StateCommand {
        static let configuration = CommandConfiguration(
            commandName: "set-aside",
            abstract: "Rename the database, so that the next start begins with an empty one and pulls everything.",
            discussion: """
                Its unsent changes are not sent: export them first with queue export. Nothing is deleted, and pictures \
                and files stay.
                """)

        @OptionGroup var options: BriefConfigurationOptions

        func run() async throws {
            let new = try await DatabaseCommand.change(StateFiles(options), at: Self.inUse) { database, _ in
                try database.setAside(at: StateFiles.now())
            }
            try StandardStream.output.writeResult("the database is now \(new)\n")
        }

        /// Never one that the daemon would only choose next, such as another account's.
        private static func inUse(_ files: StateFiles) throws -> String {
            let path = try files.database()
            guard path == files.directory.linked else {
                throw CommandFailure(.notFound, "current.db names no database; nothing was set aside")
            }
            return path
        }
    }

    struct MoveUpstream: AsyncParsableCommand, StateCommand {
        static let configuration = CommandConfiguration(
            commandName: "move-upstream",
            abstract: "Keep the database for the same upstream at another address.",
            discussion: """
                First set upstream.base_url to the new address. Without this command, the daemon begins with an empty \
                database, because another address means another upstream.
                """)

        @OptionGroup var options: BriefConfigurationOptions

        func run() async throws {
            let files = try StateFiles(options)
            guard let upstream = files.origin.upstream else {
                throw CommandFailure(.badConfiguration, "upstream.base_url is not set; set it to the new address")
            }
            try await DatabaseCommand.change(files, at: Self.linked) { database, path in
                try database.moveUpstream(to: files.origin)
                try StandardStream.output.writeResult("\(path) now belongs to the upstream \(upstream)\n")
            }
        }

        private static func linked(_ files: StateFiles) throws -> String {
            guard let path = files.directory.linked else {
                throw CommandFailure(
                    .notFound,
                    "\(files.configuration.stateDirectory) has no database for this schema yet; start the daemon first")
            }
            return path
        }
    }

    struct ForgetKey: AsyncParsableCommand, StateCommand {
        static let configuration = CommandConfiguration(
            commandName: "forget-key",
            abstract: "Let the database be used with another key, without the secrets that the old one sealed.",
            discussion: "Only for a key that is lost or exposed: docs/guides/securing.md says what is lost with it.")

        @OptionGroup var options: BriefConfigurationOptions

        func run() async throws {
            try await DatabaseCommand.change(StateFiles(options), at: { try $0.database() }) { database, path in
                try database.forgetKey()
                try StandardStream.output.writeResult("\(path) no longer names its key\n")
            }
        }
    }
}

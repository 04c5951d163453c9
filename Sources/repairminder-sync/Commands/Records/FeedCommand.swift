import ArgumentParser
import EntitySchema
import Glibc
import LocalAPI
import UnixSignals

struct FeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed", abstract: "Follow the records into a PostgreSQL database, for reports.",
        discussion: """
            Makes a table for each entity, fills it, and follows every change until Ctrl-C or SIGTERM. Each batch is written \
            exactly once, together with its position, so it can be stopped at any time and continues from there. Needs the \
            package libpq5. Put passwords into ~/.pgpass or PGPASSWORD, not into the address.
            """)

    @Argument(help: "Only these entities.", completion: .custom(RecordCompletion.entities))
    var entities: [String] = []

    @Option(
        help: ArgumentHelp("The database, such as postgresql://reports@db.example.org/shop.", valueName: "address"))
    var to: String

    @Option(help: ArgumentHelp("What this daemon's rows are called; by default what /metrics says.", valueName: "name"))
    var instance: String?

    @Option(help: ArgumentHelp("The PostgreSQL schema of the tables.", valueName: "name"))
    var schemaName = "repairminder"

    @Flag(help: "Keep every version of a record, with the time from and to which it was current.")
    var history = false

    @Flag(help: "Stop when everything is fed.")
    var once = false

    @OptionGroup(title: "Where the daemon is")
    var connection: ConnectionOptions

    func validate() throws {
        let mistakes = [
            FeedSettings.mistake(in: to), FeedSettings.mistake(inSchemaName: schemaName),
            instance.flatMap(FeedSettings.mistake(inInstance:)),
        ]
        if let mistake = mistakes.compactMap(\.self).first { throw ValidationError(mistake) }
    }

    func run() async throws {
        if FeedSettings.hasPassword(to) {
            StandardStream.error.write(
                "warning: every user of this machine can see the password in --to; put it into ~/.pgpass\n")
        }
        // libpq takes rows of any size. It says so when there is no memory for one.
        ProcessLimit.memory(ProcessLimit.memoryOfFeed)
        let library = try LibPQ()
        guard library.accepts(to) else {
            throw CommandFailure(
                .usage, "--to: libpq cannot read this address; write signs such as % and [ in it as %25 and %5B")
        }
        let client = try connection.client(deadline: .seconds(90))
        let source = FeedSource(client: client, entities: Array(Set(entities)).sorted())
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let late = LateEnd(after: [SIGTERM, SIGINT]) {
            Self.say("ended without waiting for PostgreSQL, which does not answer")
            _exit(0)
        }
        defer { late.cancel() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in signals { return } }
            group.addTask {
                do {
                    try await FeedRunner(
                        source: source, settings: try await settings(source), library: library, now: StateFiles.now,
                        say: Self.say
                    ).run()
                } catch is CancellationError {
                    // A signal, before anything was fed.
                }
            }
            // The first to end is the signal or the feed; the other one ends with it.
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func settings(_ source: FeedSource) async throws -> FeedSettings {
        let name = if let instance { instance } else { try await nameOfDaemon(source) }
        if let mistake = FeedSettings.mistake(inInstance: name) { throw CommandFailure(.usage, mistake) }
        return FeedSettings(
            target: to, schemaName: schemaName, instance: name, entities: source.entities, keepsHistory: history,
            once: once)
    }

    /// Waits for a daemon that is down: it alone knows its name.
    private func nameOfDaemon(_ source: FeedSource) async throws -> String {
        var isSaid = false
        while true {
            do {
                return try await source.about().instance
            } catch let error as LocalAPIError where error.isTemporary && !once {
                if !isSaid { Self.say("\(CommandFailure(error).brief); trying again") }
                isSaid = true
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    @Sendable private static func say(_ text: String) { StandardStream.error.write("repairminder-sync: \(text)\n") }
}

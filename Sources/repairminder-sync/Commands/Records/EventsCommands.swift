import ArgumentParser
import JSONText
import LocalAPI

struct TailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Print each change to data, queue and conflicts as a readable line.",
        discussion: """
            Continues without gaps after a restart of the daemon, until Ctrl-C. events prints the same changes as JSON, \
            for programs; watch shows them below the status.
            """)

    @Argument(help: "Only changes of these entities.", completion: .custom(RecordCompletion.entities))
    var entities: [String] = []

    @OptionGroup var start: SinceOption

    @OptionGroup(title: "Where the daemon is")
    var connection: ConnectionOptions

    func run() async throws {
        let client = try connection.client(deadline: .seconds(90))
        for entity in entities { _ = try await EntityShape(of: entity, client) }
        var follower = ChangeFollower(client: client, since: start.since)
        try await follower.follow { changes in
            let presentation = ClientOptions.presentation()
            for change in changes where entities.isEmpty || entities.contains(change.shown("entity")) {
                try StandardStream.output.writeResult(EventText.line(change, presentation), presentation)
            }
        }
    }
}

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Print each change to data, queue and conflicts as a line of JSON when it happens.",
        discussion: """
            Continues without gaps after a restart of the daemon. Exits with 66 when the log no longer holds the next \
            change: read the records again, then follow from there.
            """)

    @OptionGroup var start: SinceOption
    @OptionGroup var options: ClientOptions

    func run() async throws {
        var follower = ChangeFollower(client: try options.client(deadline: .seconds(90)), since: start.since)
        try await follower.follow { changes in
            try StandardStream.output.writeResult(changes.map { $0.text + "\n" }.joined())
        }
    }
}

/// Where the change log is read from.
struct SinceOption: ParsableArguments {
    // A negative number is a value too, of which `validate` says what is wrong.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Start after this number (`seq`); 0 for everything in the log.", valueName: "seq"))
    var since: Int?

    func validate() throws {
        guard since ?? 0 >= 0 else { throw ValidationError("--since: expected a sequence number, 0 or greater") }
    }
}

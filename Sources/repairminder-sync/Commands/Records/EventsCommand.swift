import ArgumentParser
import JSONText
import LocalAPI

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Print each change to data, queue and conflicts as a line of JSON when it happens.",
        discussion: """
            Continues without gaps after a restart of the daemon. Exits with 66 when the log no longer holds the next
            change: read the records again, then follow from there.
            """)

    @Option(help: ArgumentHelp("Start after this number (`seq`); 0 for everything in the log.", valueName: "seq"))
    var since: Int?

    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard since ?? 0 >= 0 else { throw ValidationError("--since: expected a sequence number, 0 or greater") }
    }

    func run() async throws {
        var follower = ChangeFollower(client: try options.client(deadline: .seconds(90)), since: since)
        try await follower.follow { changes in
            StandardStream.output.write(changes.map { $0.text + "\n" }.joined())
        }
    }
}

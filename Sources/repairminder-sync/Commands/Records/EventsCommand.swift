import ArgumentParser
import JSONText
import LocalAPI

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Print each change to data, queue and conflicts as a line of JSON, as it comes.",
        discussion: """
            Goes on where it was when the daemon was away. Ends with 66 when changes were missed that are not kept any
            more: then read anew what you follow.
            """)

    @Option(help: ArgumentHelp("Begin after this number (`seq`); 0 for all that are kept.", valueName: "seq"))
    var since: Int?

    @OptionGroup var options: ClientOptions

    /// Between two tries to reach a daemon that is away.
    private static let pause = Duration.seconds(1)

    func validate() throws {
        guard since ?? 0 >= 0 else { throw ValidationError("--since: expected a number of the change log") }
    }

    func run() async throws {
        var follower = ChangeFollower(client: try options.client(deadline: .seconds(90)), since: since)
        var isAway = false
        while true {
            do throws(LocalAPIError) {
                let changes = try await follower.next(wait: 60)
                isAway = false
                if !changes.isEmpty { StandardStream.output.write(changes.map { $0.text + "\n" }.joined()) }
            } catch {
                // The first call tells whether there is a daemon at all.
                guard follower.hasBegun, error.isPassing else { throw error }
                if !isAway {
                    StandardStream.error.write("repairminder-sync: \(CommandFailure(error).message); waiting for it\n")
                }
                isAway = true
                try await Task.sleep(for: Self.pause)
            }
        }
    }
}

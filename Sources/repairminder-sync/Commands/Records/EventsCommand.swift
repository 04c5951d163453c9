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

    /// The pause between attempts to reach a daemon that is down.
    private static let pause = Duration.seconds(1)

    func validate() throws {
        guard since ?? 0 >= 0 else { throw ValidationError("--since: expected a sequence number, 0 or greater") }
    }

    func run() async throws {
        var follower = ChangeFollower(client: try options.client(deadline: .seconds(90)), since: since)
        var isDown = false
        while true {
            do throws(LocalAPIError) {
                let changes = try await follower.next(wait: 60)
                isDown = false
                if !changes.isEmpty { StandardStream.output.write(changes.map { $0.text + "\n" }.joined()) }
            } catch {
                // The first call shows whether there is a daemon at all.
                guard follower.hasBegun, error.isTemporary else { throw error }
                if !isDown {
                    StandardStream.error.write("repairminder-sync: \(CommandFailure(error).message); waiting for it\n")
                }
                isDown = true
                try await Task.sleep(for: Self.pause)
            }
        }
    }
}

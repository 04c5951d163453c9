import ArgumentParser
import JSONText
import LocalAPI

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show live status and changes until Ctrl-C.",
        discussion: "In a terminal the screen is redrawn; otherwise each change and new state is printed as a line.")

    @OptionGroup var options: ClientOptions

    /// In seconds: how often the status is refreshed while nothing changes in the cache.
    private static let tick = 1
    /// The shortest pause between two updates, however much happens.
    private static let pause = Duration.milliseconds(200)

    func run() async throws {
        let client = try options.client()
        var follower = ChangeFollower(client: client)
        var screen = WatchScreen(
            isTerminal: StandardStream.output.isTerminal && !options.json,
            times: { TimeText(now: StateFiles.now()) })
        while true {
            do throws(LocalAPIError) {
                let changes = try await follower.next(wait: Self.tick)
                let status = try await client.get(LocalAPIPaths.status).body ?? .null
                if options.json {
                    StandardStream.output.write(status.text + "\n")
                } else {
                    StandardStream.output.draw(
                        screen.text(status: status, changes: changes, size: StandardStream.output.size))
                }
            } catch {
                switch error {
                case _ where follower.hasBegun && error.isTemporary:
                    // With --json, standard output has nothing but JSON.
                    (options.json ? StandardStream.error : .output).draw(
                        screen.textOfUnreachable(StandardStream.output.size))
                // A gap in the changes does not matter here.
                case .problem(let problem) where problem.status == 410: follower = ChangeFollower(client: client)
                default: throw error
                }
            }
            try await Task.sleep(for: Self.pause)
        }
    }
}

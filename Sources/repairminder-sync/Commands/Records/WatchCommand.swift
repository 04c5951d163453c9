import ArgumentParser
import JSONText
import LocalAPI

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show what happens as it happens, until Ctrl-C.",
        discussion: "Redraws itself in a terminal; elsewhere prints a line for each change and each state.")

    @OptionGroup var options: ClientOptions

    /// Seconds: how long nothing may change on the screen while nothing changes in the cache.
    private static let tick = 1
    /// Between two looks, however much happens.
    private static let pause = Duration.milliseconds(200)

    func run() async throws {
        let client = try options.client()
        var follower = ChangeFollower(client: client)
        var screen = WatchScreen(isTerminal: StandardStream.output.isTerminal && !options.json)
        while true {
            do throws(LocalAPIError) {
                let changes = try await follower.next(wait: Self.tick)
                let status = try await client.get(LocalAPIPaths.status).body ?? .null
                if options.json {
                    StandardStream.output.write(status.text + "\n")
                } else {
                    StandardStream.output.write(
                        screen.text(status: status, changes: changes, size: StandardStream.output.size))
                }
            } catch {
                switch error {
                case _ where follower.hasBegun && error.isPassing:
                    StandardStream.output.write(screen.text(away: "the daemon is away", StandardStream.output.size))
                // What was missed while it was away does not matter here.
                case .problem(let problem) where problem.status == 410: follower = ChangeFollower(client: client)
                default: throw error
                }
            }
            try await Task.sleep(for: Self.pause)
        }
    }
}

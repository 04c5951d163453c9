import ArgumentParser
import JSONText
import LocalAPI

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Start a sync; one that already runs is joined.")

    @Flag(help: "Return when the sync has ended; its failure is this command's.")
    var wait = false

    @Flag(help: "Pull everything, not only what changed since the last time.")
    var full = false

    @Flag(
        help: "With --full: delete what the upstream no longer lists, even if it is more than sync.delete_guard allows."
    )
    var delete = false

    @Argument(help: "The entities to pull; all when none is named.")
    var entities: [String] = []

    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard full || !delete else {
            throw ValidationError("--delete confirms what a full sync finds; add --full")
        }
    }

    func run() async throws {
        var body: [(key: String, value: JSONText)] = []
        if !entities.isEmpty { body.append(("entities", .array(entities.map { .string($0) }))) }
        if full { body.append(("full", true)) }
        if delete { body.append(("delete", true)) }
        // A first sync may take hours; whoever waits can stop waiting.
        let client = try options.client(deadline: wait ? .seconds(24 * 3600) : .seconds(60))
        let answer = try await client.post(
            LocalAPIPaths.sync, query: wait ? [("wait", "true")] : [], body: .object(members: body))
        let done = answer.status == 200
        try options.show(answer.body ?? (options.json ? nil : .null)) { _ in done ? "synced\n" : "sync started\n" }
    }
}

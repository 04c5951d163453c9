import ArgumentParser
import JSONText
import LocalAPI

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Start a sync, or join the one that is running.")

    @Flag(help: "Wait until the sync has ended, and fail if it fails.")
    var wait = false

    @Flag(help: "Pull everything, not only what changed since the last sync.")
    var full = false

    @Flag(
        help: "With --full: delete what the upstream no longer lists, even beyond the limit of sync.delete_guard."
    )
    var delete = false

    @Argument(help: "The entities to pull; by default all.", completion: .custom(RecordCompletion.entities))
    var entities: [String] = []

    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard full || !delete else { throw ValidationError("--delete requires --full") }
    }

    func run() async throws {
        var body: [(key: String, value: JSONText)] = []
        if !entities.isEmpty { body.append(("entities", .array(of: entities))) }
        if full { body.append(("full", true)) }
        if delete { body.append(("delete", true)) }
        // A first sync may take hours; Ctrl-C ends the wait.
        let client = try options.client(deadline: wait ? .seconds(24 * 3600) : .seconds(60))
        let wanted = JSONText.object(members: body)
        let answer = try await ProgressLine.showing(ProgressLine.sync(client), isOn: wait) {
            try await client.post(LocalAPIPaths.sync, query: wait ? [("wait", "true")] : [], body: wanted)
        }
        let done = answer.status == 200
        try options.show(answer.body ?? (options.json ? nil : .null)) { _ in done ? "synced\n" : "sync started\n" }
        if done, !options.json, let text = answer.body.flatMap(Self.unsent) {
            StandardStream.error.write(text + options.connection.flags + "\n")
        }
    }

    /// What the sync has not sent, of the status that answers it; nil if the queue is empty.
    static func unsent(_ status: JSONText) -> String? {
        let (pending, failed) = (status["pending"]?.integer ?? 0, status["failed"]?.integer ?? 0)
        let parts = [
            pending == 0 ? nil : pending.counted("change still waits", "changes still wait"),
            failed == 0 ? nil : failed.counted("change failed", "changes failed"),
        ].compactMap(\.self)
        return parts.isEmpty ? nil : "\(parts.joined(separator: ", ")): see repairminder-sync queue"
    }
}

struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause syncing: nothing is pulled or sent until resume.",
        discussion: "Reads and writes go on; changes wait in the queue. A restart of the daemon ends the pause.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let answer = try await options.client().post(LocalAPIPaths.pauseSync).body
        try options.show(answer) { _ in
            StyledText("paused; continue with repairminder-sync resume\(options.connection.flags)\n")
        }
    }
}

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Continue syncing after a pause.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let answer = try await options.client().post(LocalAPIPaths.resumeSync).body
        try options.show(answer) { _ in "resumed\n" }
    }
}

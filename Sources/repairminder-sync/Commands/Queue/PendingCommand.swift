import ArgumentParser

struct PendingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending", abstract: "The same as queue, by flags: show, retry or discard local changes.")

    @Flag(help: "Print only how many there are.")
    var count = false

    @Option(help: ArgumentHelp("Try a change again now, or all that failed.", valueName: "id|all"))
    var retry: String?

    @Option(help: ArgumentHelp("Give a change up; its record goes back to what the upstream has.", valueName: "id"))
    var discard: String?

    @Flag(help: "With --discard: give up the changes that depend on it, too.")
    var cascade = false

    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard [count, retry != nil, discard != nil].filter(\.self).count <= 1 else {
            throw ValidationError("--count, --retry and --discard exclude each other")
        }
        guard !cascade || discard != nil else { throw ValidationError("--cascade goes with --discard") }
    }

    func run() async throws {
        let client = try options.client()
        if count {
            try await QueueActions.count(client, options)
        } else if let retry {
            try await QueueActions.retry(retry == "all" ? nil : retry, client, options)
        } else if let discard {
            try await QueueActions.discard(discard, cascade: cascade, client, options)
        } else {
            try await QueueActions.show(client, options)
        }
    }
}

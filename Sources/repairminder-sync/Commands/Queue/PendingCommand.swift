import ArgumentParser

struct PendingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending",
        abstract: "Show, retry or discard local changes: queue with flags instead of subcommands.")

    @Flag(help: "Print only how many changes wait; those that failed do not count.")
    var count = false

    @Option(help: ArgumentHelp("Retry a change now, or all failed changes.", valueName: "id|all"))
    var retry: String?

    @Option(help: ArgumentHelp("Discard a change; its record returns to the upstream's state.", valueName: "id"))
    var discard: String?

    @Flag(help: "With --discard: also discard the changes that depend on it.")
    var cascade = false

    @OptionGroup var filters: QueueFilters
    @OptionGroup var table: TableOptions
    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard [count, retry != nil, discard != nil, !filters.isEmpty].filter(\.self).count <= 1 else {
            throw ValidationError("use only one of --count, --retry, --discard and filters of the list")
        }
        guard !cascade || discard != nil else { throw ValidationError("--cascade requires --discard") }
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
            try await QueueActions.show(filters, table, client, options)
        }
    }
}

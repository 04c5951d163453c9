import ArgumentParser
import JSONText
import LocalAPI

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Show, edit, retry or discard local changes that are not yet upstream.",
        subcommands: [Show.self, Retry.self, Edit.self, Discard.self, Export.self, Import.self],
        defaultSubcommand: Show.self)

    // Every command has a written name: the library would look up that of the type, for milliseconds at every start.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the queue, or one change with the request that will be sent.")

        @Argument(help: "The change's id; without it the whole queue is shown.")
        var id: String?

        @Flag(help: "Print only how many changes wait; those that failed do not count.")
        var count = false

        @OptionGroup var filters: QueueFilters
        @OptionGroup var table: TableOptions
        @OptionGroup var options: ClientOptions

        func validate() throws {
            guard !count || id == nil else { throw ValidationError("--count takes no id: it counts the whole queue") }
            guard filters.isEmpty || !count && id == nil else {
                throw ValidationError("an id or --count takes no filters: they select changes of the list")
            }
        }

        func run() async throws {
            let client = try options.client()
            if count {
                try await QueueActions.count(client, options)
            } else if let id {
                try options.show(await client.get(LocalAPIPaths.pendingChange(id)).body) {
                    StyledText(QueueText.change($0, ClientOptions.presentation().times))
                }
            } else {
                try await QueueActions.show(filters, table, client, options)
            }
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "retry", abstract: "Retry a change now.")

        @Argument(help: "The change's id; all, or nothing, retries all failed changes.")
        var id: String?

        @OptionGroup var options: ClientOptions

        func run() async throws { try await QueueActions.retry(id == "all" ? nil : id, options.client(), options) }
    }

    struct Edit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit",
            abstract: "Edit the fields of a change and retry it.", discussion: RecordWriting.convention)

        @Argument(help: "The change's id.")
        var id: String

        @Argument(
            help: ArgumentHelp(
                "The fields to change; all others stay.", valueName: "field=text|field:=json|field=@file"))
        var fields: [String] = []

        @Option(help: ArgumentHelp("Remove a field from the change; repeatable.", valueName: "field"))
        var remove: [String] = []

        @OptionGroup var options: ClientOptions

        func validate() throws {
            guard !fields.isEmpty || !remove.isEmpty else {
                throw ValidationError("expected at least one field to change or --remove")
            }
        }

        func run() async throws {
            let body = try FieldArgument.object(fields)
            let client = try options.client()
            let query = remove.isEmpty ? [] : [(name: "remove", value: remove.joined(separator: ","))]
            let answer = try await RecordWriting.explaining(fields, ofQueue: true) { () throws(LocalAPIError) in
                try await BusyChange.waiting { () throws(LocalAPIError) in
                    try await client.patch(LocalAPIPaths.pendingChange(id), query: query, body: body)
                }
            }
            try options.show(answer.body) { answer in
                StyledText("\(id) updated: \(TerminalText.line(answer.shown("state")))\n")
            }
        }
    }

    struct Discard: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "discard",
            abstract: "Discard changes; their records return to the upstream's state.")

        @Argument(help: ArgumentHelp("The changes' ids.", valueName: "id"))
        var ids: [String]

        @Flag(help: "Also discard the changes that depend on them.")
        var cascade = false

        @OptionGroup var options: ClientOptions

        func run() async throws { try await QueueActions.discard(ids, cascade: cascade, options.client(), options) }
    }
}

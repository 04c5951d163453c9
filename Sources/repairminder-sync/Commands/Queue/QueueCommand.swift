import ArgumentParser
import JSONText
import LocalAPI

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Show, correct, retry or discard the local changes on their way to the upstream.",
        subcommands: [Show.self, Retry.self, Edit.self, Discard.self, Export.self, Import.self],
        defaultSubcommand: Show.self)

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the queue, or one change with the request that will be sent for it.")

        @Argument(help: "The change's id; the whole queue without it.")
        var id: String?

        @Flag(help: "Print only how many there are.")
        var count = false

        @OptionGroup var options: ClientOptions

        func validate() throws {
            guard !count || id == nil else { throw ValidationError("--count is of the whole queue") }
        }

        func run() async throws {
            let client = try options.client()
            if count {
                try await QueueActions.count(client, options)
            } else if let id {
                try options.show(await client.get(LocalAPIPaths.pendingChange(id)).body, QueueText.change)
            } else {
                try await QueueActions.show(client, options)
            }
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Try a change again now.")

        @Argument(help: "The change's id; all that failed without it.")
        var id: String?

        @OptionGroup var options: ClientOptions

        func run() async throws { try await QueueActions.retry(id, options.client(), options) }
    }

    struct Edit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Correct the fields of a change and try it again.", discussion: RecordWriting.convention)

        @Argument(help: "The change's id.")
        var id: String

        @Argument(help: ArgumentHelp("The fields to correct; all others stay.", valueName: "field=text|field:=json"))
        var fields: [String] = []

        @Option(help: ArgumentHelp("Take a field out of the change; can be repeated.", valueName: "field"))
        var remove: [String] = []

        @OptionGroup var options: ClientOptions

        func validate() throws {
            guard !fields.isEmpty || !remove.isEmpty else { throw ValidationError("say which fields to correct") }
        }

        func run() async throws {
            let body = try FieldArgument.object(fields)
            let client = try options.client()
            let query = remove.isEmpty ? [] : [(name: "remove", value: remove.joined(separator: ","))]
            let answer = try await RecordWriting.explaining(fields) { () throws(LocalAPIError) in
                try await client.patch(LocalAPIPaths.pendingChange(id), query: query, body: body)
            }
            try options.show(answer.body) { "\(id) is corrected: \($0["state"]?.plain ?? "")\n" }
        }
    }

    struct Discard: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give a change up; its record goes back to what the upstream has.")

        @Argument(help: "The change's id.")
        var id: String

        @Flag(help: "Give up the changes that depend on it, too.")
        var cascade = false

        @OptionGroup var options: ClientOptions

        func run() async throws { try await QueueActions.discard(id, cascade: cascade, options.client(), options) }
    }
}

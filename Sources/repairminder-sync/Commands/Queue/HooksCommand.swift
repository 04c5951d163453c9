import ArgumentParser
import JSONText
import LocalAPI

struct HooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hooks", abstract: "Show the configuration's hooks, and control one.")

    @Argument(help: "A hook, to show its parked deliveries; without it all hooks are shown.")
    var name: String?

    @Option(help: ArgumentHelp("Pause a hook.", valueName: "name"))
    var pause: String?

    @Option(help: ArgumentHelp("End the pause of a hook.", valueName: "name"))
    var resume: String?

    @Option(help: ArgumentHelp("Retry the failed and parked deliveries of a hook.", valueName: "name"))
    var retry: String?

    @Option(help: ArgumentHelp("Give up the delivery of a hook that has failed.", valueName: "name"))
    var skip: String?

    @Option(help: ArgumentHelp("Discard the parked deliveries of a hook.", valueName: "name"))
    var discard: String?

    @Option(help: ArgumentHelp("Retry or discard only this parked delivery.", valueName: "id"))
    var parked: Int?

    @OptionGroup var table: SortedTableOptions
    @OptionGroup var options: ClientOptions

    private var choices: [(action: String, name: String)] {
        [("pause", pause), ("resume", resume), ("retry", retry), ("skip", skip), ("discard", discard)]
            .compactMap { action, name in name.map { (action: action, name: $0) } }
    }

    func validate() throws {
        guard choices.count + (name == nil ? 0 : 1) <= 1 else {
            throw ValidationError("use only one of a name, --pause, --resume, --retry, --skip and --discard")
        }
        guard parked == nil || retry != nil || discard != nil else {
            throw ValidationError("use --parked with --retry or --discard")
        }
    }

    func run() async throws {
        let client = try options.client()
        if let (action, name) = choices.first {
            let path = LocalAPIPaths.hook(name, action)
            let body = parked.map { JSONText.object(["id": .integer($0)]) }
            let answer = try await RecordWriting.explaining { () throws(LocalAPIError) in
                try await client.post(path, body: body)
            }
            try options.show(answer.body) { hook in
                let state = "is \(hook.shown("state")), \(hook["parked"]?.plain ?? "0") parked"
                return StyledText("\(name) \(TerminalText.line(state))\n")
            }
        } else if let name {
            try options.show(try await client.get(LocalAPIPaths.hook(name)).body) { hook in
                try table.rendered(
                    hook["parked_deliveries"]?.elements, Self.parkedTable, none: "no parked deliveries\n")
            }
        } else {
            let answer = try await client.get(LocalAPIPaths.hooks).body
            let hooks = answer?["data"]?.elements ?? []
            try options.show(answer) { _ in try table.rendered(hooks, Self.table, none: "no hooks\n") }
            if !options.json, hooks.contains(where: { $0["parked"]?.integer ?? 0 > 0 }) {
                StandardStream.error.write("hooks NAME shows why the deliveries of a hook are parked\n")
            }
        }
    }

    static func table(_ hooks: [JSONText]) -> Table {
        Table(
            ["name", "state", "delivered", "parked", "attempts", "next_attempt_at", "error"], of: hooks,
            kept: ["name", "state"], wrapped: ["error"])
    }

    /// With the ids that `--parked` takes.
    static func parkedTable(_ deliveries: [JSONText]) -> Table {
        Table(
            ["id", "parked_at", "event", "entity", "record_id", "attempts", "reason"], of: deliveries,
            kept: ["record_id", "reason"], wrapped: ["reason"])
    }
}

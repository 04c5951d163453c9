import ArgumentParser
import JSONText
import LocalAPI

struct RemindersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reminders", abstract: "Show, snooze or dismiss reminders.")

    @Option(
        help: ArgumentHelp(
            "Only these states, separated by commas: scheduled, due, delivered, snoozed, dismissed.",
            valueName: "state"))
    var state: String?

    @Option(help: ArgumentHelp("Dismiss a reminder.", valueName: "id"))
    var dismiss: String?

    @Option(help: ArgumentHelp("Postpone a reminder; requires --for.", valueName: "id"))
    var snooze: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("How long to snooze: 10m, 2h, 1d.", valueName: "duration"))
    var delay: String?

    @OptionGroup var table: SortedTableOptions
    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard [state, dismiss, snooze].compactMap({ $0 }).count <= 1 else {
            throw ValidationError("use only one of --state, --dismiss and --snooze")
        }
        guard (snooze == nil) == (delay == nil) else { throw ValidationError("use --snooze and --for together") }
        guard delay?.wholeMatch(of: /[1-9][0-9]{0,3}[smhd]/) != nil || delay == nil else {
            throw ValidationError("--for: expected a duration such as 10m, 2h or 1d, from 1s to 9999d")
        }
    }

    func run() async throws {
        let client = try options.client()
        if let dismiss {
            try options.show(await client.post(LocalAPIPaths.dismissReminder(dismiss)).body) { _ in
                "dismissed \(dismiss)\n"
            }
        } else if let snooze, let delay {
            let body = JSONText.object(["for": .string(delay)])
            let answer = try await RecordWriting.explaining { () throws(LocalAPIError) in
                try await client.post(LocalAPIPaths.snoozeReminder(snooze), body: body)
            }
            try options.show(answer.body) { reminder in
                let end = reminder.shown("snoozed_until")
                let shown = ClientOptions.presentation().times?.text(of: end, .whole) ?? end
                return "snoozed \(snooze) until \(shown)\n"
            }
        } else {
            let query = state.map { [("state", $0)] } ?? []
            try options.show(try await ListPages.all(of: LocalAPIPaths.reminders, query: query, client)) { answer in
                try table.rendered(answer["data"]?.elements, Self.table, none: "no reminders\n")
            }
        }
    }

    static func table(_ reminders: [JSONText]) -> Table {
        Table(
            ["id", "due_at", "state", "text", "entity", "record_id", "snoozed_until"], of: reminders,
            kept: ["due_at", "record_id", "state"], wrapped: ["text"])
    }
}

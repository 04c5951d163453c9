import ArgumentParser
import JSONText
import LocalAPI

struct RemindersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reminders", abstract: "Show what you are reminded of, put it off, or dismiss it.")

    @Option(
        help: ArgumentHelp(
            "Only these, with commas: scheduled, due, delivered, snoozed, dismissed.", valueName: "state"))
    var state: String?

    @Option(help: ArgumentHelp("Be reminded no more.", valueName: "id"))
    var dismiss: String?

    @Option(help: ArgumentHelp("Be reminded again later; goes with --for.", valueName: "id"))
    var snooze: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("How much later: 10m, 2h, 1d.", valueName: "duration"))
    var delay: String?

    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard [state, dismiss, snooze].compactMap({ $0 }).count <= 1 else {
            throw ValidationError("--state, --dismiss and --snooze exclude each other")
        }
        guard (snooze == nil) == (delay == nil) else { throw ValidationError("--snooze and --for go together") }
    }

    func run() async throws {
        let client = try options.client()
        if let dismiss {
            try options.show(await client.post(LocalAPIPaths.dismissReminder(dismiss)).body) { _ in
                "\(dismiss) is dismissed\n"
            }
        } else if let snooze, let delay {
            let body = JSONText.object(["for": .string(delay)])
            try options.show(await client.post(LocalAPIPaths.snoozeReminder(snooze), body: body).body) { reminder in
                "\(snooze) comes again at \(reminder["snoozed_until"]?.plain ?? "")\n"
            }
        } else {
            let query = state.map { [("state", $0)] } ?? []
            try options.show(try await ListPages.all(of: LocalAPIPaths.reminders, query: query, client)) { answer in
                let reminders = answer["data"]?.elements ?? []
                return reminders.isEmpty ? "no reminders\n" : ClientOptions.rendered(Self.table(reminders))
            }
        }
    }

    static func table(_ reminders: [JSONText]) -> Table {
        let columns = ["id", "due_at", "state", "text", "entity", "record_id"]
        return Table(header: columns, rows: reminders.map { reminder in columns.map { reminder[$0]?.plain ?? "" } })
    }
}

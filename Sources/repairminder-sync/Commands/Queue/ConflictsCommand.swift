import ArgumentParser
import JSONText
import LocalAPI

struct ConflictsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "Show conflicts between local and upstream changes, resolve them, or undo a resolution.")

    enum Side: String, CaseIterable, ExpressibleByArgument {
        case local, server
    }

    @Argument(help: "The conflict's id; without it all conflicts are shown.")
    var id: String?

    @Flag(help: "Show only conflicts that wait for a decision.")
    var open = false

    @Option(help: ArgumentHelp("Resolve a conflict; requires --winner.", valueName: "id"))
    var resolve: String?

    @Option(help: ArgumentHelp("The value to keep: local or server.", valueName: "side"))
    var winner: Side?

    @Option(help: ArgumentHelp("Queue the value that lost as a new change.", valueName: "id"))
    var undo: String?

    @OptionGroup var table: SortedTableOptions
    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard [id != nil, open, resolve != nil, undo != nil].filter(\.self).count <= 1 else {
            throw ValidationError("use only one of an id, --open, --resolve and --undo")
        }
        guard (resolve == nil) == (winner == nil) else {
            throw ValidationError("use --resolve and --winner together")
        }
    }

    func run() async throws {
        let client = try options.client()
        if let resolve, let winner {
            let body = JSONText.object(["winner": .string(winner.rawValue)])
            let answer = try await RecordWriting.explaining { () throws(LocalAPIError) in
                try await BusyChange.waiting { () throws(LocalAPIError) in
                    try await client.post(LocalAPIPaths.resolveConflict(resolve), body: body)
                }
            }
            try options.show(answer.body) { _ in
                "\(resolve) resolved: the \(winner == .local ? "local value" : "server's value") wins\n"
            }
        } else if let undo {
            let answer = try await RecordWriting.explaining { () throws(LocalAPIError) in
                try await client.post(LocalAPIPaths.undoConflict(undo))
            }
            try options.show(answer.body) { _ in "\(undo) undone; the other value is queued\n" }
        } else if let id {
            try options.show(await client.get(LocalAPIPaths.conflict(id)).body) { conflict in
                let members = conflict.members.filter { $0.value.kind != .null }
                return try table.rendered(
                    Table(
                        header: ["conflict", id], rows: members.map { [$0.key, $0.value.plain] }, wrapped: [id],
                        times: .whole))
            }
        } else {
            let query = open ? [("open", "true")] : []
            try options.show(try await ListPages.all(of: LocalAPIPaths.conflicts, query: query, client)) { answer in
                try table.rendered(answer["data"]?.elements, Self.table, none: "no conflicts\n")
            }
        }
    }

    static func table(_ conflicts: [JSONText]) -> Table {
        let columns = ["id", "at", "entity", "record_id", "field", "base", "local", "server", "rule"]
        return Table(
            header: columns + ["winner"],
            rows: conflicts.map { conflict in
                let winner = conflict.shown("winner")
                let outcome = conflict["undone_at"]?.kind == .string ? "\(winner), undone" : winner
                return columns.map(conflict.shown) + [winner.isEmpty ? "waits for you" : outcome]
            }, kept: ["at", "entity", "record_id", "field", "winner"])
    }
}

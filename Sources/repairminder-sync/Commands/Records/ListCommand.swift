import ArgumentParser
import EntitySchema
import JSONText
import LocalAPI

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List an entity's records.",
        discussion: """
            Takes the filters of the local API, such as status=ready,collected, total.gte=100, notes.contains=screen, \
            client.email=ada@example.org, notes.null=true, 'or=(status.eq.ready,total.gte.100)' and sync=pending. \
            --columns id,status is short for fields=id,status.
            """)

    @OptionGroup var selection: RecordSelection

    @Option(
        parsing: .unconditional, help: "The maximum number of records; with --all the number per page.")
    var limit: Int?

    @Flag(help: "List all records, page by page.")
    var all = false

    @OptionGroup var table: TableOptions
    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard limit.map({ (1...1000).contains($0) }) ?? true else {
            throw ValidationError("--limit: expected a number from 1 to 1000; --all lists everything")
        }
    }

    func run() async throws {
        let query = try query()
        let client = try options.client()
        let answer =
            all
            ? try await ListPages.all(of: selection.path, query: query, client)
            : try await client.get(selection.path, query: query).body
        let shape = options.json ? nil : try await EntityShape(of: selection.entity, client)
        try options.show(answer) { answer in
            let fields = query.first { $0.name == "fields" }?.value.split(separator: ",").map(String.init)
            let records = (answer["data"]?.elements ?? []).map { shape?.named($0) ?? $0 }
            guard !records.isEmpty else { return "no records\n" }
            return RecordTable.list(records, fields: fields, kept: shape.map(kept) ?? [], isWide: table.wide)
                .rendered(table.presentation)
        }
        // On standard error, so the table stays clean.
        guard let shape else { return }
        if answer?["data"]?.elements.isEmpty ?? true {
            for line in EmptyListHint.lines(query, shape) { StandardStream.error.write(TerminalText.line(line) + "\n") }
        }
        if let more = answer?["next"], more.kind != .null {
            StandardStream.error.write("there are more records; use --all to list them\n")
        }
        if answer?["complete"]?.boolean == false { StandardStream.error.write(ListPages.incomplete(selection.entity)) }
    }

    /// The fields that the table always has: the key, what people know the records by, and what they are sorted by.
    private func kept(_ shape: EntityShape) -> [String] {
        [shape.key] + shape.naturalKeys + SortTerm.list(selection.sort ?? shape.sort).map(\.field)
    }

    private func query() throws(CommandFailure) -> LocalAPIClient.Query {
        var query = try selection.query()
        if let columns = table.columns {
            guard !query.contains(where: { $0.name == "fields" }) else {
                throw CommandFailure(.usage, "use --columns or fields=, not both")
            }
            query.append(("fields", columns))
        }
        if let limit = limit ?? (all ? 1000 : nil) { query.append(("limit", "\(limit)")) }
        return query
    }
}

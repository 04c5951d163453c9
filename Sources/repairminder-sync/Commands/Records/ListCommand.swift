import ArgumentParser
import JSONText
import LocalAPI

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List an entity's records.",
        discussion: """
            Takes the filters of the local API: status=ready, status=ready,collected, total.gte=100, notes.null=true,
            sync=pending. fields=id,status also sets the columns of the table.
            """)

    @Argument(help: "The entity, such as orders.")
    var entity: String

    @Argument(help: ArgumentHelp("Filters.", valueName: "field=value"))
    var filters: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Fields to sort by, -field for descending.", valueName: "-field,field"))
    var sort: String?

    @Option(help: "The maximum number of records; with --all the number per page.")
    var limit: Int?

    @Flag(help: "List all records, page by page.")
    var all = false

    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard limit.map({ (1...1000).contains($0) }) ?? true else {
            throw ValidationError("--limit: expected a number from 1 to 1000; --all lists everything")
        }
        _ = try query()
    }

    func run() async throws {
        let client = try options.client()
        let path = LocalAPIPaths.records(of: entity)
        let query = try query()
        let answer =
            all
            ? try await ListPages.all(of: path, query: query, client) : try await client.get(path, query: query).body
        try options.show(answer) { answer in
            let fields = query.first { $0.name == "fields" }?.value.split(separator: ",").map(String.init)
            let records = answer["data"]?.elements ?? []
            return records.isEmpty ? "no records\n" : ClientOptions.rendered(RecordTable.list(records, fields: fields))
        }
        // On standard error, so the table stays clean.
        if !options.json, let more = answer?["next"], more.kind != .null {
            StandardStream.error.write("there are more records; use --all to list them\n")
        }
    }

    private func query() throws -> LocalAPIClient.Query {
        var query = try FieldArgument.query(filters)
        if let sort { query.append(("sort", sort)) }
        if let limit = limit ?? (all ? 1000 : nil) { query.append(("limit", "\(limit)")) }
        return query
    }
}

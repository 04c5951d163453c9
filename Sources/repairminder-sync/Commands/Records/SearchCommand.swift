import ArgumentParser
import JSONText
import LocalAPI

struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Find records by words or by part of a number.",
        discussion: """
            Every word must match, the last one as a prefix; accents and case are ignored. Part of a telephone or serial \
            number matches regardless of spacing. The match is shown between « and ».
            """)

    @Argument(help: "The words to search for.")
    var words: [String]

    @Option(help: ArgumentHelp("Only these entities, separated by commas.", valueName: "name,name"))
    var entity: String?

    @Option(parsing: .unconditional, help: "The maximum number of records, 100 at most.")
    var limit = 20

    @OptionGroup var table: SortedTableOptions
    @OptionGroup var options: ClientOptions

    private static let most = 100

    func validate() throws {
        guard (1...Self.most).contains(limit) else {
            throw ValidationError("--limit: expected a number from 1 to \(Self.most)")
        }
    }

    func run() async throws {
        var query: LocalAPIClient.Query = [("q", words.joined(separator: " "))]
        if let entity { query.append(("entity", entity)) }
        query.append(("limit", "\(limit)"))
        let answer = try await options.client().get(LocalAPIPaths.search, query: query).body
        try options.show(answer) { try table.rendered($0["data"]?.elements, Self.table, none: "no records\n") }
        // Standard output has only the table.
        if !options.json, let hint = hint(answer) { StandardStream.error.write(hint + "\n") }
    }

    /// Why there may be more than is shown; nil if all is shown.
    func hint(_ answer: JSONText?) -> String? {
        if answer?["complete"]?.boolean == false {
            return "recently loaded records are still being indexed; there may be more matches"
        }
        guard answer?["data"]?.elements.count == limit else { return nil }
        return "there may be more matches; "
            + (limit < Self.most ? "--limit \(Self.most) shows up to \(Self.most)" : "add words to narrow the search")
    }

    static func table(_ hits: [JSONText]) -> Table {
        Table(["entity", "id", "title", "snippet"], of: hits, kept: ["id"], wrapped: ["title", "snippet"])
    }
}

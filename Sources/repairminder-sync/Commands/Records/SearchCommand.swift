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

    @Option(help: "The maximum number of records.")
    var limit: Int?

    @OptionGroup var sorting: SortOption

    @OptionGroup var table: TableOptions

    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard limit.map({ (1...100).contains($0) }) ?? true else {
            throw ValidationError("--limit: expected a number from 1 to 100")
        }
    }

    func run() async throws {
        var query: LocalAPIClient.Query = [("q", words.joined(separator: " "))]
        if let entity { query.append(("entity", entity)) }
        if let limit { query.append(("limit", "\(limit)")) }
        let answer = try await options.client().get(LocalAPIPaths.search, query: query).body
        try options.show(answer) { answer in
            let hits = answer["data"]?.elements ?? []
            return hits.isEmpty ? "no records\n" : try table.rendered(Self.table(hits), sortedBy: sorting.sort)
        }
        if !options.json, answer?["complete"]?.boolean == false {
            StandardStream.error.write("recently loaded records are still being indexed; there may be more matches\n")
        }
    }

    static func table(_ hits: [JSONText]) -> Table {
        Table(["entity", "id", "title", "snippet"], of: hits, kept: ["id"], wrapped: ["title", "snippet"])
    }
}

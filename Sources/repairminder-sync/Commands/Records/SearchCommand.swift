import ArgumentParser
import JSONText
import LocalAPI

struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Find records by words, or by a part of a number.",
        discussion: """
            Every word must be found, the last one by its beginning; accents and case do not matter. A part of a telephone
            or serial number is found however either is spaced. The match stands between « and ».
            """)

    @Argument(help: "What to look for.")
    var words: [String]

    @Option(help: ArgumentHelp("Only these entities, separated by commas.", valueName: "name,name"))
    var entity: String?

    @Option(help: "How many records, at most.")
    var limit: Int?

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
            return hits.isEmpty ? "no records\n" : ClientOptions.rendered(Self.table(hits))
        }
        if !options.json, answer?["complete"]?.boolean == false {
            StandardStream.error.write("records that were just loaded are still being indexed; there may be more\n")
        }
    }

    static func table(_ hits: [JSONText]) -> Table {
        let columns = ["entity", "id", "title", "snippet"]
        return Table(header: columns, rows: hits.map { hit in columns.map { hit[$0]?.plain ?? "" } })
    }
}

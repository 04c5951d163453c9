import ArgumentParser
import EntitySchema
import JSONText
import LocalAPI

struct DashboardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dashboard", abstract: "Show the figures of a day, a week or a month next to earlier periods.")

    @Argument(
        help: "One of \(DashboardPeriod.allCases.map(\.rawValue).joined(separator: ", ")).",
        completion: .list(DashboardPeriod.allCases.map(\.rawValue)))
    var period = DashboardPeriod.today.rawValue

    @Option(help: ArgumentHelp("Count only this user's records.", valueName: "id"))
    var user: String?

    @OptionGroup var table: SortedTableOptions
    @OptionGroup var options: ClientOptions

    func run() async throws {
        var query = [(name: "period", value: period)]
        if let user { query += [(name: "scope", value: "user"), (name: "user", value: user)] }
        let answer = try await options.client().get(LocalAPIPaths.dashboard, query: query)
        try options.show(answer.body) { try table.rendered(DashboardText.table($0)) }
    }
}

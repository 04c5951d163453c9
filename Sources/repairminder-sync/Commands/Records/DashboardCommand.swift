import ArgumentParser
import EntitySchema
import JSONText
import LocalAPI

struct DashboardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dashboard", abstract: "Show the figures of a day, a week or a month beside those before it.")

    @Argument(
        help: "One of \(DashboardPeriod.allCases.map(\.rawValue).joined(separator: ", ")).",
        completion: .list(DashboardPeriod.allCases.map(\.rawValue)))
    var period = DashboardPeriod.today.rawValue

    @Option(help: ArgumentHelp("Count only what belongs to this user.", valueName: "id"))
    var user: String?

    @OptionGroup var options: ClientOptions

    func run() async throws {
        var query = [(name: "period", value: period)]
        if let user { query += [(name: "scope", value: "user"), (name: "user", value: user)] }
        let answer = try await options.client().get(LocalAPIPaths.dashboard, query: query)
        try options.show(answer.body) { ClientOptions.rendered(DashboardText.table($0)) }
    }
}

/// The dashboard for a person.
enum DashboardText {
    /// A row a figure: what it is, and for each comparison what it was and by how much it differs.
    static func table(_ dashboard: JSONText) -> Table {
        let figures = dashboard.members.filter { $0.value["current"] != nil }
        let names = figures.first?.value["comparisons"]?.elements.map { $0["period"]?.plain ?? "" } ?? []
        let header = ["figure", dashboard["period"]?.plain ?? "now"] + names.flatMap { [$0, "change"] }
        let rows = figures.map { name, figure in
            let comparisons = figure["comparisons"]?.elements ?? []
            return [name.replacing("_", with: " "), number(figure["current"])]
                + comparisons.flatMap { [number($0), change($0)] }
        }
        return Table(header: header, rows: rows.filter { $0.count == header.count })
    }

    private static func number(_ value: JSONText?) -> String {
        (value?["count"] ?? value?["total"])?.plain ?? ""
    }

    /// `+12 (+8.1%)`.
    private static func change(_ comparison: JSONText) -> String {
        func signed(_ value: JSONText?) -> String {
            let text = value?.plain ?? ""
            let isPositive = !text.hasPrefix("-") && text.contains { ("1"..."9").contains($0) }
            return isPositive ? "+\(text)" : text
        }
        let percent = signed(comparison["change_percent"])
        return signed(comparison["change"]) + (percent.isEmpty ? "" : " (\(percent)%)")
    }
}

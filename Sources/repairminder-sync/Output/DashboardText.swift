import JSONText

/// Formats the dashboard as text.
enum DashboardText {
    /// One row per figure: its current value, then the value of each comparison period and the difference.
    static func table(_ dashboard: JSONText) -> Table {
        let figures = dashboard.members.filter { $0.value["current"] != nil }
        let names = figures.first?.value["comparisons"]?.elements.map { $0.shown("period") } ?? []
        let header = ["figure", dashboard["period"]?.plain ?? "now"] + names.flatMap { [$0, "change"] }
        let rows = figures.map { name, figure in
            let comparisons = figure["comparisons"]?.elements ?? []
            return [name.replacing("_", with: " "), number(figure["current"])]
                + comparisons.flatMap { [number($0), change($0)] }
        }
        return Table(header: header, rows: rows.filter { $0.count == header.count })
    }

    private static func number(_ value: JSONText?) -> String { (value?["count"] ?? value?["total"])?.plain ?? "" }

    /// `+12 (+8.1%)`, without a percentage if there was nothing before.
    private static func change(_ comparison: JSONText) -> String {
        func signed(_ value: JSONText?) -> String {
            let text = value?.plain ?? ""
            return !text.hasPrefix("-") && isNonzero(text) ? "+\(text)" : text
        }
        let percent = isNonzero(number(comparison)) ? " (\(signed(comparison["change_percent"]))%)" : ""
        return signed(comparison["change"]) + percent
    }

    private static func isNonzero(_ number: String) -> Bool { number.contains { ("1"..."9").contains($0) } }
}

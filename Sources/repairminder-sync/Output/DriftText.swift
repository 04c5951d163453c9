import JSONText

/// Drift for a person.
enum DriftText {
    /// A table of the disagreements, one of the records set aside, whichever there are.
    static func report(_ answer: JSONText, _ rendered: (Table) -> String) -> String {
        let drift = answer["data"]?.elements ?? []
        let aside = answer["set_aside"]?.elements ?? []
        var parts: [String] = []
        if !drift.isEmpty { parts.append(rendered(table(drift))) }
        if !aside.isEmpty { parts.append("without a usable key, set aside:\n" + rendered(setAside(aside))) }
        return parts.isEmpty ? "records and schema agree\n" : parts.joined(separator: "\n")
    }

    static func table(_ drift: [JSONText]) -> Table {
        let columns = ["entity", "field", "kind", "expected", "found", "count", "example", "last_seen"]
        return Table(header: columns, rows: drift.map { row in columns.map { row[$0]?.plain ?? "" } })
    }

    static func setAside(_ records: [JSONText]) -> Table {
        let columns = ["entity", "at", "record"]
        return Table(header: columns, rows: records.map { row in columns.map { row[$0]?.plain ?? "" } })
    }
}

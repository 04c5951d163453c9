import JSONText

/// Formats schema drift as text.
enum DriftText {
    /// A table of the mismatches and a table of the records set aside; empty tables are omitted.
    static func report(
        _ answer: JSONText, _ presentation: Presentation, _ rendered: (Table) throws -> StyledText
    ) rethrows -> StyledText {
        let drift = answer["data"]?.elements ?? []
        let aside = answer["set_aside"]?.elements ?? []
        var parts: [StyledText] = []
        if !drift.isEmpty { parts.append(try rendered(table(drift))) }
        if !aside.isEmpty {
            parts.append("set aside because they have no usable key:\n" + setAside(aside).rendered(presentation))
        }
        guard let first = parts.first else { return "no drift: records match the schema\n" }
        return parts.dropFirst().reduce(first) { $0 + "\n" + $1 }
    }

    static func table(_ drift: [JSONText]) -> Table {
        Table(["entity", "field", "kind", "expected", "found", "count", "example", "last_seen"], of: drift)
    }

    static func setAside(_ records: [JSONText]) -> Table { Table(["entity", "at", "record"], of: records) }
}

internal import JSONText

/// Where a record has a field (`from`), in SQL.
struct JSONSource {
    private let steps: [Substring]

    init(_ source: String) { steps = JSONPath.steps(source) }

    /// The value as an expression over `record`.
    func value(by arrow: String, in record: String) -> String {
        guard let list = steps.firstIndex(of: "*") else { return "\(record) \(arrow) '\(Self.path(steps[...]))'" }
        // An element is found again by its place: its value alone may be a text that is no JSON.
        let (before, after) = (Self.path(steps[..<list]), Self.path(steps[(list + 1)...]).dropFirst())
        return """
            iif(json_type(\(record), '\(before)') = 'array', (SELECT json_group_array(json(part)) FROM \
            (SELECT \(record) -> (fullkey || '\(after)') AS part FROM json_each(\(record), '\(before)')) \
            WHERE part IS NOT NULL), NULL)
            """
    }

    /// In SQLite's notation, `$` first.
    private static func path(_ steps: ArraySlice<Substring>) -> String {
        steps.reduce("$") { path, step in
            guard let number = Int(step) else { return "\(path).\"\(quoted(step))\"" }
            return number < 0 ? "\(path)[#\(number)]" : "\(path)[\(number)]"
        }
    }

    /// For a place in a text of SQL.
    private static func quoted(_ step: Substring) -> String {
        // By scalars: as a `Character`, a quote with a combining mark after it is no quote, but SQLite ends the text there.
        step.unicodeScalars.map { $0 == "'" ? "''" : String($0) }.joined()
    }
}

internal import EntitySchema

/// What a record has in a field, as an expression of SQL.
extension EntityTable {
    /// A field's value over `record`, with the type of its column; a time as text.
    func expression(for field: Field, in record: String) -> String {
        switch field.kind {
        case .object, .list: value(of: field, by: "->", in: record)
        case .time: Self.normalizedTime(value(of: field, by: "->>", in: record))
        case .date: Self.day(value(of: field, by: "->>", in: record), field.dayFormat)
        case .string, .enum: "CAST(\(value(of: field, by: "->>", in: record)) AS TEXT)"
        case .reference: key(of: field, in: record)
        case .boolean where field.isTextOnWire: Self.truth(Self.number(value(of: field, by: "->>", in: record)))
        case .integer, .boolean, .number, .money: Self.number(value(of: field, by: "->>", in: record))
        }
    }

    /// A key as text, also a whole number beyond 64 bits, which `->>` would round.
    private func key(of field: Field, in record: String) -> String {
        let (value, json) = (value(of: field, by: "->>", in: record), value(of: field, by: "->", in: record))
        return """
            iif(typeof(\(value)) = 'real' AND \(json) NOT GLOB '*[.eE]*', \(json), CAST(\(value) AS TEXT))
            """
    }

    /// A number, also one in quotes and a whole one however it is written; anything else stays as it is: what a column
    /// of numbers would hold. Nested `iif`, since only that guarantees that no type is asked of text that is not JSON.
    static func number(_ value: String) -> String {
        let number = "CAST(\(value) AS NUMERIC)"
        let whole = "CAST(\(value) AS INTEGER)"
        return """
            iif(json_valid(\(value)), iif(json_type(\(value)) IN ('integer', 'real'), \
            iif(\(number) = \(whole), \(whole), \(number)), \(value)), \(value))
            """
    }

    /// A value as the schema writes it in a condition, as the text of the field's column.
    func columnText(_ value: String, of field: String) -> String {
        entity[field: field]?.kind == .boolean ? (value == "true" ? "1" : "0") : value
    }

    /// A boolean in quotes as 1 or 0; anything else stays as it is.
    private static func truth(_ value: String) -> String {
        "CASE \(value) WHEN 'true' THEN 1 WHEN 'false' THEN 0 ELSE \(value) END"
    }

    /// The member with the field's name or, if there is none, the value at its source. A member that is null is one
    /// (`Field.value(in:)`).
    func value(of field: Field, by arrow: String, in record: String) -> String {
        let member = "'$.\"\(field.name)\"'"
        guard let source = field.source else { return "\(record) \(arrow) \(member)" }
        let there = JSONSource(source).value(by: arrow, in: record)
        return "iif(\(record) -> \(member) IS NULL, \(there), \(record) \(arrow) \(member))"
    }

    /// A field's value as JSON text, with digits as the upstream wrote them.
    func json(of field: Field, in record: String) -> String {
        let value = value(of: field, by: "->", in: record)
        return field.source == nil ? value : "nullif(\(value), 'null')"
    }

    /// A time as UTC with milliseconds, so that text sorts by time; anything else stays as it is. The guard keeps words
    /// such as `now`, which would mean the present, away from strftime.
    static func normalizedTime(_ value: String) -> String {
        """
        CASE WHEN (\(value)) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' \
        THEN coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', \(value)), \(value)) ELSE CAST(\(value) AS TEXT) END
        """
    }

    /// A day as text, also of a time; anything else stays as it is.
    private static func day(_ value: String, _ format: TimeFormat?) -> String {
        guard let format else { return "CAST(\(value) AS TEXT)" }
        let text = "CAST(\(value) AS TEXT)"
        if let spelling = format.dayPattern.map(DaySpelling.init) {
            let starts = spelling.starts
            return
                "iif(typeof(\(value)) = 'text' AND \(value) GLOB '\(spelling.glob)', substr(\(value), \(starts.year + 1), 4) || '-' || "
                + "substr(\(value), \(starts.month + 1), 2) || '-' || substr(\(value), \(starts.day + 1), 2), \(text))"
        }
        let unit = format == .epochMilliseconds ? " / 1000.0" : ""
        return format.isNumber
            ? "iif(typeof(\(value)) = 'integer', coalesce(date(\(value)\(unit), 'unixepoch'), \(text)), \(text))"
            : "iif(\(value) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][T ]*', substr(\(value), 1, 10), "
                + "\(text))"
    }

    /// A number of milliseconds since 1970 as text.
    static func time(_ milliseconds: String) -> String {
        "strftime('%Y-%m-%dT%H:%M:%fZ', \(milliseconds) / 1000.0, 'unixepoch')"
    }
}

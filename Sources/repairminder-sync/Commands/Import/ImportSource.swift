import EntitySchema
import JSONText
import LocalAPI

/// A row of a file to import.
struct ImportRow {
    /// From 1.
    var line: Int
    var fields: [(key: String, value: JSONText)]
    /// What is wrong with it; nil if it can be read.
    var problem: String?

    /// The text of a field's value; nil if it is null or missing.
    func value(of field: String) -> String? {
        fields.first { $0.key == field && $0.value.kind != .null }?.value.plain
    }
}

/// Reads the rows of a file, with values of the types that the schema has.
struct ImportSource {
    let shape: EntityShape

    /// Whether a file that could be either has JSON and no CSV.
    static func isJSON(_ bytes: [UInt8]) -> Bool {
        let first = withoutMark(bytes).first { !" \t\r\n".utf8.contains($0) }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// The rows of `ndjson`; throws for a JSON list, or objects of several lines, none of whose lines is a row.
    func lines(_ bytes: [UInt8]) throws(CommandFailure) -> [ImportRow] {
        let text = Self.withoutMark(bytes).drop { " \t\r\n".utf8.contains($0) }
        let isList = text.first == UInt8(ascii: "[")
        let isLong = text.first == UInt8(ascii: "{") && text.dropFirst().first.map("\r\n".utf8.contains) == true
        guard isList || isLong else { return ndjson(bytes) }
        let found = isList ? "the file is a JSON list" : "the file has JSON objects of several lines"
        throw CommandFailure(
            .badData, "\(found); import reads one object a line, as jq -c '\(isList ? ".[]" : ".")' FILE writes them")
    }

    /// A byte order mark is no part of the first row.
    private static func withoutMark(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes.dropFirst(bytes.starts(with: CSVReader.mark) ? 3 : 0)
    }

    /// One JSON object a line; empty lines are skipped.
    func ndjson(_ bytes: [UInt8]) -> [ImportRow] {
        var rows: [ImportRow] = []
        let text = Self.withoutMark(bytes)
        for (index, line) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            guard line.contains(where: { !" \t\r".utf8.contains($0) }) else { continue }
            rows.append(row(index + 1, Array(line)))
        }
        return rows
    }

    private func row(_ line: Int, _ bytes: [UInt8]) -> ImportRow {
        guard bytes.count <= CSVReader.largestRow else {
            return ImportRow(line: line, fields: [], problem: "it has more than \(CSVReader.largestRow >> 20) MiB")
        }
        do {
            let object = try JSONText(bytes)
            guard object.kind == .object else {
                return ImportRow(line: line, fields: [], problem: "expected a JSON object")
            }
            return ImportRow(line: line, fields: object.members.filter { !$0.key.hasPrefix("_") })
        } catch {
            return ImportRow(line: line, fields: [], problem: "\(error)")
        }
    }

    /// The first line has the names of the fields. Empty cells are left out, and rows of nothing else, as spreadsheets
    /// write them below the last record.
    func csv(_ bytes: [UInt8]) throws(CommandFailure) -> [ImportRow] {
        let rows = try CSVReader.rows(bytes)
        guard let header = rows.first else { return [] }
        if header.cells.count == 1, let name = header.cells.first, shape.field(name) == nil,
            let separator = name.first(where: { $0 == ";" || $0 == "\t" })
        {
            throw CommandFailure(
                .badData,
                "line \(header.line): cells are separated by \(separator == ";" ? "semicolons" : "tabs"); "
                    + "save the file as CSV with commas")
        }
        for name in header.cells where shape.field(name) == nil && !name.hasPrefix("_") {
            let known = shape.names { _ in true }
            let problem =
                name.isEmpty
                ? "a column has no name; name it, or delete it"
                : Suggestion.refusal(of: name, "field", among: known, listedAfter: "The fields are")
            throw CommandFailure(.badData, "line \(header.line): \(problem)")
        }
        return rows.dropFirst().filter { $0.cells.contains { !$0.isEmpty } }.map { row in
            guard row.cells.count == header.cells.count else {
                return ImportRow(
                    line: row.line, fields: [],
                    problem: "it has \(row.cells.count) cells, and the first line \(header.cells.count)")
            }
            let cells = zip(header.cells, row.cells).filter { !$0.hasPrefix("_") && !$1.isEmpty }
            return ImportRow(line: row.line, fields: cells.map { (key: $0, value: value($1, of: $0)) })
        }
    }

    /// Text that is no value of the field's type stays text, so that the daemon says what is wrong with it.
    private func value(_ cell: String, of name: String) -> JSONText {
        let type = shape.field(name)?["type"]?.string ?? "string"
        guard ["integer", "number", "money", "boolean", "object", "list"].contains(type),
            let value = try? JSONText(parsing: cell)
        else { return .string(CSV.withoutGuard(cell)) }
        return value
    }
}

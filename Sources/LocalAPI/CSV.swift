package import JSONText

/// Formats records as CSV (RFC 4180): CRLF line ends, quotes only where needed.
package struct CSV: Sendable {
    private let columns: [String]
    /// Whether to escape text that a spreadsheet would run as a formula.
    private let guardsFormulas: Bool
    private let finder: JSONMemberFinder
    /// For each column its place in what the finder returns.
    private let places: [Int]

    package init(columns: [String], guardsFormulas: Bool) {
        self.columns = columns
        self.guardsFormulas = guardsFormulas
        var names: [String] = []
        places = columns.map { column in
            if let place = names.firstIndex(of: column) { return place }
            names.append(column)
            return names.count - 1
        }
        finder = JSONMemberFinder(names)
    }

    package func appendHeader(to bytes: inout [UInt8]) {
        for (index, column) in columns.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            Self.appendQuoted(column, to: &bytes)
        }
        bytes += "\r\n".utf8
    }

    /// `record` has its names as the columns have them, without escapes.
    package func append(_ record: JSONText, to bytes: inout [UInt8]) { append(values: values(in: record), to: &bytes) }

    /// The value of each column; nil for what the record does not have.
    package func values(in record: JSONText) -> [JSONText?] {
        let values = finder.values(in: record)
        return places.map { values[$0] }
    }

    package func append(values: [JSONText?], to bytes: inout [UInt8]) {
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            if let value, value.kind != .null { append(cell: value, to: &bytes) }
        }
        bytes += "\r\n".utf8
    }

    /// Text unchanged, everything else as its JSON, byte for byte.
    private func append(cell value: JSONText, to bytes: inout [UInt8]) {
        guard let text = value.string else { return Self.appendQuoted(value.text, to: &bytes) }
        Self.appendQuoted(guardsFormulas && Self.isFormula(text) ? "'" + text : text, to: &bytes)
    }

    /// Whether a spreadsheet would take text for a formula by its first character (OWASP, CSV Injection). Telephone
    /// numbers begin with + as well: text of only digits and separators may calculate something but cannot call a
    /// function.
    private static func isFormula(_ text: String) -> Bool {
        switch text.unicodeScalars.first {
        case "=", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠": true
        case "+", "-": text.unicodeScalars.contains { !"+-0123456789 ().,/".unicodeScalars.contains($0) }
        default: false
        }
    }

    /// A cell as it was before `guardsFormulas` put a ' before it.
    package static func withoutGuard(_ cell: String) -> String {
        cell.hasPrefix("'") && isFormula(String(cell.dropFirst())) ? String(cell.dropFirst()) : cell
    }

    /// By bytes: CRLF is one Character, and a quote with a combining mark is not equal to a quote.
    private static func appendQuoted(_ cell: String, to bytes: inout [UInt8]) {
        let quote = UInt8(ascii: "\"")
        guard cell.utf8.contains(where: { $0 == quote || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }) else {
            bytes += cell.utf8
            return
        }
        bytes.append(quote)
        for byte in cell.utf8 {
            if byte == quote { bytes.append(quote) }
            bytes.append(byte)
        }
        bytes.append(quote)
    }
}

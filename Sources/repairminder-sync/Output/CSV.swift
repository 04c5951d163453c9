import JSONText

/// Formats records as CSV (RFC 4180): CRLF line ends, quotes only where needed.
struct CSV {
    var columns: [String]
    /// Whether to escape text that a spreadsheet would run as a formula.
    var guardsFormulas: Bool

    var header: String { columns.map(Self.quoted).joined(separator: ",") + "\r\n" }

    func row(_ record: JSONText) -> String {
        columns.map { Self.quoted(cell(record[$0])) }.joined(separator: ",") + "\r\n"
    }

    /// Text unchanged, null as an empty cell, everything else as its JSON, byte for byte.
    private func cell(_ value: JSONText?) -> String {
        guard let value, value.kind != .null else { return "" }
        guard let text = value.string else { return value.text }
        return guardsFormulas && Self.isFormula(text) ? "'" + text : text
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
    static func withoutGuard(_ cell: String) -> String {
        cell.hasPrefix("'") && isFormula(String(cell.dropFirst())) ? String(cell.dropFirst()) : cell
    }

    private static func quoted(_ cell: String) -> String {
        // By bytes: CRLF is one Character, and a quote with a combining mark is not equal to a quote.
        guard cell.utf8.contains(where: { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }) else { return cell }
        let doubled = cell.utf8.flatMap { $0 == 0x22 ? [$0, $0] : [$0] }
        return "\"" + String(decoding: doubled, as: UTF8.self) + "\""
    }
}

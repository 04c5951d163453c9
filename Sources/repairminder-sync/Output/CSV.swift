import JSONText

/// Records as comma-separated values (RFC 4180): CRLF line ends, quotes where they are needed.
struct CSV {
    var columns: [String]
    /// Whether text that a spreadsheet would run as a formula is kept from that.
    var guardsFormulas: Bool

    var header: String { columns.map(Self.quoted).joined(separator: ",") + "\r\n" }

    func row(_ record: JSONText) -> String {
        columns.map { Self.quoted(cell(record[$0])) }.joined(separator: ",") + "\r\n"
    }

    /// Text as it is, null as nothing, all else as its JSON: numbers to the letter.
    private func cell(_ value: JSONText?) -> String {
        guard let value, value.kind != .null else { return "" }
        guard let text = value.string else { return value.text }
        return guardsFormulas && Self.isFormula(text) ? "'" + text : text
    }

    /// What spreadsheets take for a formula by its first character (OWASP, CSV Injection). A telephone number begins with +,
    /// too: what holds nothing but digits and what stands between them can calculate something, but call nothing.
    private static func isFormula(_ text: String) -> Bool {
        switch text.unicodeScalars.first {
        case "=", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠": true
        case "+", "-": text.unicodeScalars.contains { !"+-0123456789 ().,/".unicodeScalars.contains($0) }
        default: false
        }
    }

    private static func quoted(_ cell: String) -> String {
        // By bytes: CRLF is one Character, and a quote with a combining mark is another than a quote.
        guard cell.utf8.contains(where: { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }) else { return cell }
        let doubled = cell.utf8.flatMap { $0 == 0x22 ? [$0, $0] : [$0] }
        return "\"" + String(decoding: doubled, as: UTF8.self) + "\""
    }
}

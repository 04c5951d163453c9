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
            // A compromised daemon names the columns.
            Self.appendQuoted(guardsFormulas ? Self.guarded(column) : column, to: &bytes)
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
        let text = value.string
        guard guardsFormulas else { return Self.appendQuoted(text ?? value.text, to: &bytes) }
        Self.appendQuoted(text.map { Self.guarded($0) } ?? Self.guarded(json: value.text), to: &bytes)
    }

    private static func guarded(_ text: String) -> String {
        let inner = changingParts(of: text, after: ";\t\r\n") { beginsFormula(bare($0)) ? "'\($0)" : String($0) }
        return isFormula(bare(text[...])) ? "'" + inner : inner
    }

    /// The text after any ' at its start. A formula that has a ' of its own gets one more, so that `withoutGuard` leaves
    /// its own.
    private static func bare(_ text: Substring) -> Substring { Substring(text.unicodeScalars.drop { $0 == "'" }) }

    /// The same value: its first character is escaped instead. Only strings have semicolons.
    private static func guarded(json text: String) -> String {
        changingParts(of: text, after: ";") { part in
            guard let first = part.unicodeScalars.first, beginsFormula(part) else { return String(part) }
            return "\\u" + String(hexadecimal: first.value, digits: 4) + String(part.unicodeScalars.dropFirst())
        }
    }

    /// Whether a spreadsheet would take text for a formula by its first character (OWASP, CSV Injection). Telephone
    /// numbers begin with + as well: text of only digits and separators may calculate something but cannot call a
    /// function.
    private static func isFormula(_ text: Substring) -> Bool {
        switch text.unicodeScalars.first {
        case "=", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠": true
        case "+", "-": text.unicodeScalars.contains { !"+-0123456789 ().,/".unicodeScalars.contains($0) }
        default: false
        }
    }

    /// A cell as it was before `guardsFormulas` put a ' before it and before its parts.
    package static func withoutGuard(_ cell: String) -> String {
        let outer = isFormula(bare(cell[...])) ? withoutApostrophe(cell[...]) : cell
        return changingParts(of: outer, after: ";\t\r\n") { part in
            beginsFormula(bare(part)) ? withoutApostrophe(part) : String(part)
        }
    }

    private static func withoutApostrophe(_ text: Substring) -> String {
        String(text.unicodeScalars.first == "'" ? Substring(text.unicodeScalars.dropFirst()) : text)
    }

    // MARK: Parts of a cell

    /// A spreadsheet that separates cells by semicolons or tabs does not see the quotes around a cell in the middle of a
    /// line: parts of it become cells. The first part is left as it is. `separators` are ASCII.
    private static func changingParts(
        of text: String, after separators: String, _ change: (Substring) -> String
    ) -> String {
        guard text.utf8.contains(where: { separators.utf8.contains($0) }) else { return text }
        var changed = ""
        var rest = text[...]
        var isFirst = true
        while true {
            let end = rest.utf8.firstIndex { separators.utf8.contains($0) }
            let part = end.map { rest[..<$0] } ?? rest
            changed += isFirst ? String(part) : change(part)
            guard let end else { return changed }
            changed.unicodeScalars.append(rest.unicodeScalars[end])
            rest = rest[rest.utf8.index(after: end)...]
            isFirst = false
        }
    }

    /// Whether a part would be taken for a formula. Notes have lines that begin with @, + or -, so these count only if they
    /// call something.
    private static func beginsFormula(_ part: Substring) -> Bool {
        switch part.unicodeScalars.first {
        case "=", "＝": true
        case "@", "+", "-", "＠", "＋", "－": callsSomething(part)
        default: false
        }
    }

    /// Whether the text calls a function, `NAME(`, or another program, `name|` (DDE).
    private static func callsSomething(_ text: Substring) -> Bool {
        var before = UInt8(ascii: " ")
        for byte in text.utf8 {
            let isInName = (before | 0x20) &- UInt8(ascii: "a") < 26 || before &- UInt8(ascii: "0") < 10
            if isInName, byte == UInt8(ascii: "(") || byte == UInt8(ascii: "|") { return true }
            before = byte
        }
        return false
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

/// Renders rows of text in aligned columns.
struct Table {
    private static let gap = "  "
    /// Columns are not cut below this width: less is unreadable.
    private static let narrowest = 6

    var header: [String]
    /// Each row has as many cells as the header.
    var rows: [[String]]

    /// The header and one line per row, each ending in a newline. With a `width`, cuts the widest columns until lines
    /// fit.
    func rendered(width: Int?) -> String {
        let shown = rows.map { $0.map(TerminalText.line) }
        var widths = header.indices.map { column in
            ([header] + shown).map { TextWidth.of($0[column]) }.max() ?? 0
        }
        if let width { Self.fit(&widths, into: width) }
        return ([header] + shown).map { Self.line($0, widths) + "\n" }.joined()
    }

    private static func fit(_ widths: inout [Int], into width: Int) {
        let gaps = gap.count * max(widths.count - 1, 0)
        while widths.reduce(gaps, +) > width, let widest = widths.max(), widest > narrowest,
            let column = widths.firstIndex(of: widest)
        {
            widths[column] -= 1
        }
    }

    private static func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = ""
        for (cell, width) in zip(cells, widths) {
            let cut = TextWidth.cut(cell, to: width)
            line += cut + String(repeating: " ", count: width - TextWidth.of(cut)) + gap
        }
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}

import EntitySchema
import JSONText

/// Rows of text in columns.
///
/// Nothing is ever cut. For programs, tabs separate the columns. At a terminal, the widest columns are left out until
/// the others fit, and the last line names them.
struct Table {
    static let gap = "  "

    var header: [String]
    /// Each row has as many cells as the header.
    var rows: [[String]]
    /// The columns that are always shown, besides the first: keys, errors, and what the rows are sorted by.
    var kept: Set<String> = []
    /// The columns whose cells may take several lines.
    var wrapped: Set<String> = []
    var times = TimeText.Style.brief

    /// The header and the rows, each ending in a newline.
    func rendered(_ presentation: Presentation) -> StyledText {
        guard let width = presentation.width else { return StyledText(separated) }
        let cells = rows.map { row in row.map { shown($0, presentation.times) } }
        let layout = TableLayout(
            header: header, cells: cells, kept: kept, wrapped: wrapped, width: presentation.isWide ? nil : width)
        var text = line(header, layout) { _, _ in .heading }
        for row in cells { text += line(row, layout) { StyledText.Meaning(of: $1, in: $0) } }
        if !layout.hidden.isEmpty {
            text += StyledText("not shown: \(layout.hidden.joined(separator: ", ")); --wide shows all\n")
        }
        return text
    }

    /// Cells cannot contain a tab or a line break.
    private var separated: String {
        ([header] + rows).map { $0.map(TerminalText.line).joined(separator: "\t") + "\n" }.joined()
    }

    private func shown(_ cell: String, _ times: TimeText?) -> String {
        TerminalText.line(times?.text(of: cell, self.times) ?? cell)
    }

    /// A row, which takes several lines if a cell does. No line ends in spaces.
    private func line(
        _ row: [String], _ layout: TableLayout, _ meaning: (_ column: String, _ cell: String) -> StyledText.Meaning?
    ) -> StyledText {
        let cells = layout.columns.map { TextWidth.wrapped(row[$0.place], to: $0.width) }
        var text = StyledText("")
        for line in 0..<(cells.map(\.count).max() ?? 0) {
            let last = cells.lastIndex { line < $0.count && !$0[line].isEmpty } ?? -1
            for (index, column) in layout.columns.enumerated() where index <= last {
                let part = line < cells[index].count ? cells[index][line] : ""
                text += StyledText(part, meaning(header[column.place], row[column.place]))
                if index < last {
                    text += StyledText(
                        String(repeating: " ", count: max(column.width - TextWidth.of(part), 0)) + Self.gap)
                }
            }
            text += "\n"
        }
        return text
    }
}

extension Table {
    /// A row for each object, with these of its members.
    init(
        _ columns: [String], of objects: [JSONText], kept: Set<String> = [], wrapped: Set<String> = []
    ) {
        self.init(
            header: columns, rows: objects.map { object in columns.map(object.shown) }, kept: kept,
            wrapped: wrapped)
    }
}

// MARK: Choosing

extension Table {
    /// Only these columns, in this order. Throws for a name that is no column.
    func only(_ names: [String]) throws(CommandFailure) -> Table {
        var places: [Int] = []
        for name in names {
            guard let place = header.firstIndex(of: name) else {
                throw CommandFailure(
                    .usage, "there is no column \(name); the columns are \(header.joined(separator: ", "))")
            }
            places.append(place)
        }
        var table = self
        table.header = places.map { header[$0] }
        table.rows = rows.map { row in places.map { row[$0] } }
        // The caller named them.
        table.kept = Set(names)
        return table
    }

    /// Sorted by columns: as numbers where both cells are numbers. Equal rows keep their order.
    func sorted(by terms: [SortTerm]) throws(CommandFailure) -> Table {
        var keys: [(place: Int, descending: Bool)] = []
        for term in terms {
            guard let place = header.firstIndex(of: term.field) else {
                throw CommandFailure(
                    .usage,
                    "--sort: there is no column \(term.field); the columns are \(header.joined(separator: ", "))")
            }
            keys.append((place, term.descending))
        }
        var table = self
        table.rows = rows.enumerated().sorted { one, other in
            for key in keys {
                let (a, b) = (one.element[key.place], other.element[key.place])
                if a == b { continue }
                return key.descending ? Self.isLess(b, a) : Self.isLess(a, b)
            }
            return one.offset < other.offset
        }.map(\.element)
        table.kept.formUnion(keys.map { header[$0.place] })
        return table
    }

    private static func isLess(_ one: String, _ other: String) -> Bool {
        if let one = Double(one), let other = Double(other) { return one < other }
        return one < other
    }
}

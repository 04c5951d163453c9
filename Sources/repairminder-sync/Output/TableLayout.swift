/// Which columns of a table are shown at a terminal, and how wide.
struct TableLayout {
    struct Column: Equatable {
        /// Its index in the table.
        var place: Int
        var width: Int
    }

    /// Columns with several lines are not made narrower: shorter lines are hard to read.
    private static let narrowest = 24

    private(set) var columns: [Column]
    /// The names of the columns that did not fit and have content.
    private(set) var hidden: [String] = []

    /// `width` nil shows everything on lines of any length. Without enough room even for what must be shown, lines are
    /// longer than the terminal.
    init(header: [String], cells: [[String]], kept: Set<String>, wrapped: Set<String>, width: Int?) {
        let natural = header.indices.map { place in
            ([header] + cells).map { TextWidth.of($0[place]) }.max() ?? 0
        }
        columns = header.indices.map { Column(place: $0, width: natural[$0]) }
        guard let width, Self.total(columns) > width else { return }
        for index in columns.indices where wrapped.contains(header[index]) {
            columns[index].width = min(natural[index], max(Self.narrowest, TextWidth.of(header[index])))
        }
        var dropped: [Int] = []
        // The widest first, so that as many as possible stay.
        func drop(_ isDroppable: (Int) -> Bool) {
            while Self.total(columns) > width,
                let widest = columns.indices.filter({
                    let place = columns[$0].place
                    return place > 0 && !kept.contains(header[place]) && isDroppable(place)
                }).max(by: { columns[$0].width <= columns[$1].width })
            {
                dropped.append(columns.remove(at: widest).place)
            }
        }
        drop { Self.isEmpty($0, cells) }
        drop { _ in true }
        hidden = dropped.filter { !Self.isEmpty($0, cells) }.sorted().map { header[$0] }
        for index in columns.indices where wrapped.contains(header[columns[index].place]) {
            let room = max(width - Self.total(columns), 0)
            columns[index].width = min(natural[columns[index].place], columns[index].width + room)
        }
    }

    private static func isEmpty(_ place: Int, _ cells: [[String]]) -> Bool { cells.allSatisfy { $0[place].isEmpty } }

    private static func total(_ columns: [Column]) -> Int {
        columns.reduce(Table.gap.count * max(columns.count - 1, 0)) { $0 + $1.width }
    }
}

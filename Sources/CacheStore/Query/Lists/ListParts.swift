internal import GRDB
internal import SQLiteStore

/// The statements that read a list from a cursor or from its start, with their bound values.
struct ListParts: RandomAccessCollection, Sendable {
    let startIndex = 0
    var endIndex: Int { form.count }
    private let form: ListForm
    /// The cursor's position; empty without a cursor.
    private let position: [DatabaseValue]

    init(_ form: ListForm, after position: [DatabaseValue]?) {
        self.form = form
        self.position = position ?? []
    }

    subscript(_ place: Int) -> BoundSQL { form.statement(place, after: position) }

    /// The ranges after the cursor; a single one without a condition if there is no cursor.
    var ranges: [BoundSQL] { form.ranges.map { ($0.sql, Array(position.prefix($0.values))) } }
}

internal import GRDB
internal import SQLiteStore

/// The statements that read a list from a cursor or from its start, with their bound values.
struct ListParts: RandomAccessCollection, Sendable {
    let startIndex = 0
    let endIndex: Int
    private let form: ListForm
    /// The cursor's position; empty without a cursor.
    private let position: [DatabaseValue]
    /// The first statement, which every read needs.
    private let first: ReadConnection.Statement?

    init(_ form: ListForm, after position: [DatabaseValue]?) {
        self.form = form
        self.position = position ?? []
        endIndex = form.count
        first = form.count > 0 ? form.statement(0, after: self.position) : nil
    }

    subscript(_ place: Int) -> ReadConnection.Statement {
        if place == 0, let first { return first }
        return form.statement(place, after: position)
    }

    /// The ranges after the cursor; a single one without a condition if there is no cursor.
    var ranges: [Keyset.Range] { form.ranges.map { ($0.sql, Array(position.prefix($0.values))) } }
}

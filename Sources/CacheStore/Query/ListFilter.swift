internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Gathers a list's conditions and the values bound to them, and decides what an index is to find.
struct ListFilter {
    typealias Alternative = (condition: String, arguments: [DatabaseValue])

    private struct Term {
        var field: Field
        var column: String
        var comparison: ListQuery.Filter.Comparison
        var condition: String
        var arguments: [DatabaseValue]
    }

    /// More values than these are looked up together and sorted.
    private static let mostAlternatives = 10

    let table: EntityTable
    private var terms: [Term] = []
    private var fixed = ["_deleted = 0"]
    private var isBySync = false
    /// What the words that are looked for must be found in.
    private(set) var match: SearchMatch?
    /// One of these holds for each row; each is a part of the list that comes in order. Never empty.
    private(set) var alternatives: [Alternative] = [("", [])]
    /// What the alternatives give is one list only when it is merged; else they follow one another.
    private(set) var isMerged = false
    /// The rows are found by an index that gives another order than the list's.
    private(set) var isSearchedFirst = false

    init(table: EntityTable) {
        self.table = table
    }

    /// What every row meets, besides one of the alternatives.
    var conditions: [String] { fixed + [match?.condition.sql].compactMap(\.self) + terms.map(\.condition) }
    var arguments: [DatabaseValue] { (match?.condition.arguments ?? []) + terms.flatMap(\.arguments) }
    /// Nothing but words is asked for.
    var isByWordsAlone: Bool { match != nil && terms.isEmpty && !isBySync }

    mutating func add(_ filter: ListQuery.Filter) throws(CacheError) {
        let field = try filterable(filter.field)
        let column = table.sql(for: field.name)
        if filter.comparison == .null {
            guard let wantsNull = ["true": true, "false": false][filter.values.first ?? ""] else {
                throw CacheError.badQuery(field: "\(field.name).null", message: "expected true or false")
            }
            // A key is never null, which an index cannot look up; nor is it empty.
            let isNull = column == "_key" ? "_key = ''" : "\(column) IS NULL"
            terms.append(
                Term(
                    field: field, column: column, comparison: wantsNull ? .equal : .null,
                    condition: wantsNull ? isNull : "\(column) IS NOT NULL", arguments: []))
            return
        }
        var values: [DatabaseValue] = []
        for text in filter.values {
            let value = try Self.value(text, of: field)
            if !values.contains(value) { values.append(value) }
        }
        let placeholders = values.map { _ in "?" }.joined(separator: ", ")
        let condition =
            values.count > 1 ? "\(column) IN (\(placeholders))" : "\(column) \(filter.comparison.sql) ?"
        terms.append(
            Term(
                field: field, column: column, comparison: filter.comparison, condition: condition, arguments: values))
    }

    mutating func add(_ sync: ListQuery.SyncFilter) {
        isBySync = true
        let queued = "(SELECT record_key FROM sync_outbox WHERE entity = '\(table.entity.name)')"
        let failed =
            "(SELECT record_key FROM sync_outbox WHERE entity = '\(table.entity.name)' AND state = \(OutboxState.failed.sql))"
        let disputed = "(SELECT record_key FROM sync_conflict WHERE entity = '\(table.entity.name)' AND winner IS NULL)"
        switch sync {
        case .pending: fixed += ["_key IN \(queued)", "_key NOT IN \(failed)", "_key NOT IN \(disputed)"]
        case .error: fixed.append("_key IN \(failed)")
        case .conflict: fixed.append("_key IN \(disputed)")
        }
    }

    mutating func add(_ search: SearchQuery) throws(CacheError) {
        guard let searched = SearchTable(table.entity) else { throw SearchTable.missing(in: table.entity.name) }
        match = SearchMatch(table: searched, query: search)
    }

    // MARK: What finds the rows

    /// To be called once, after all has been added.
    mutating func arrange(for order: ListOrder, hasCursor: Bool) {
        guard match == nil else { return isSearchedFirst = true }
        let first = order.terms.first
        if hasCursor, let first { leaveBoundToCursor(first) }
        let isOwnOrder = first?.field == table.entity.sort.first?.field
        if let single = index(where: { $0.comparison == .equal && $0.arguments.count <= 1 }) {
            isSearchedFirst = !isOwnOrder && terms[single].field.name != first?.field
        } else if let several = index(where: { $0.comparison == .equal }) {
            guard terms[several].arguments.count <= Self.mostAlternatives else { return isSearchedFirst = true }
            isSearchedFirst = !isOwnOrder && terms[several].field.name != first?.field
            isMerged = true
            split(several, into: terms[several].arguments.map { ("\(terms[several].column) = ?", [$0]) })
        } else if isBySync {
            isSearchedFirst = true
        } else if index(where: { $0.comparison.isRange && $0.field.name == first?.field }) != nil {
            return
        } else if index(where: { $0.comparison.isRange }) != nil {
            isSearchedFirst = true
        } else if let other = index(where: { $0.comparison.isNegation && $0.field.name == first?.field }) {
            exclude(other, first?.descending ?? false, hasCursor)
        }
    }

    private func index(where matches: (Term) -> Bool) -> Int? {
        terms.firstIndex { table.isIndexed($0.field.name) && matches($0) }
    }

    /// After a cursor that is where the index must begin, not at the filter's bound in the same direction.
    private mutating func leaveBoundToCursor(_ first: SortTerm) {
        let bounds: [ListQuery.Filter.Comparison] = first.descending ? [.less, .atMost] : [.greater, .atLeast]
        for index in terms.indices
        where terms[index].field.name == first.field && bounds.contains(terms[index].comparison) {
            terms[index].condition = "+" + terms[index].condition
        }
    }

    /// All but one value, or but null: what lies below and what lies above, where that is the order.
    private mutating func exclude(_ index: Int, _ descending: Bool, _ hasCursor: Bool) {
        let column = terms[index].column
        guard terms[index].comparison == .notEqual else {
            if !hasCursor { terms[index].condition = table.isNotNull(column) }
            return
        }
        let value = terms[index].arguments
        let below: Alternative = ("\(hasCursor && descending ? "+" : "")\(column) < ?", value)
        let above: Alternative = ("\(hasCursor && !descending ? "+" : "")\(column) > ?", value)
        split(index, into: descending ? [above, below] : [below, above])
    }

    private mutating func split(_ index: Int, into parts: [Alternative]) {
        terms.remove(at: index)
        alternatives = parts
    }

    // MARK: Values

    private func filterable(_ name: String) throws(CacheError) -> Field {
        guard let field = table.entity[field: name] else {
            let near = Suggestion.nearest(to: name, among: table.entity.fields.map(\.name))
            throw CacheError.badQuery(
                field: name,
                message: "\(table.entity.name) has no field \(name)" + (near.map { "; did you mean \($0)?" } ?? ""))
        }
        switch field.kind {
        case .object, .list: throw CacheError.badQuery(field: name, message: "objects and lists cannot be filtered by")
        default: break
        }
        guard !field.secret else { throw CacheError.badQuery(field: name, message: "this field is secret") }
        return field
    }

    /// The caller's text as the value that the column would hold.
    private static func value(_ text: String, of field: Field) throws(CacheError) -> DatabaseValue {
        switch field.kind {
        case .integer, .number, .money:
            if let number = number(text) { return number }
            throw CacheError.badQuery(field: field.name, message: "expected a number, got \(text)")
        case .boolean:
            guard let value = ["true": 1, "false": 0, "1": 1, "0": 0][text] else {
                throw CacheError.badQuery(field: field.name, message: "expected true or false, got \(text)")
            }
            return value.databaseValue
        case .time:
            guard let time = Timestamp(iso8601: text) else {
                throw CacheError.badQuery(
                    field: field.name,
                    message: "expected a time such as 2026-11-21 or 2026-11-21T10:42:00Z, got \(text)")
            }
            return time.description.databaseValue
        default: return text.databaseValue
        }
    }

    /// A number as JSON has them; a whole one as an integer, however it is written, so that one value is never two.
    private static func number(_ text: String) -> DatabaseValue? {
        guard (try? JSONText(parsing: text))?.kind == .number else { return nil }
        if let value = Int64(text) { return value.databaseValue }
        guard let value = Double(text), value.isFinite else { return nil }
        return Int64(exactly: value).map(\.databaseValue) ?? value.databaseValue
    }
}

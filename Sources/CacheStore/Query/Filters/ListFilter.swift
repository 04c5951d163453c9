internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Collects a list's conditions and the values bound to them, and chooses the condition that an index looks up.
struct ListFilter {
    private struct Term {
        var field: String
        var column: String
        var comparison: ListQuery.Filter.Comparison
        var condition: String
        var arguments: [DatabaseValue]
    }

    /// With more values than this, the rows are looked up together and sorted.
    private static let mostAlternatives = 10

    let table: EntityTable
    private let context: FilterContext
    private var terms: [Term] = []
    private var others: [CompiledFilter] = []
    private var fixed = ["_deleted = 0"]
    private var sync: ListQuery.SyncFilter?
    /// The words that must be found.
    private(set) var match: SearchMatch?
    private var matchCondition: BoundSQL?
    /// Each row meets one of these; each gives a part of the list in order. Never empty.
    private(set) var alternatives: [BoundSQL] = [("", [])]
    /// Whether the alternatives must be merged to give the list's order; otherwise they follow one another.
    private(set) var isMerged = false
    /// Whether the index that finds the rows gives another order than the list's.
    private(set) var isSearchedFirst = false

    init(table: EntityTable, context: FilterContext) {
        self.table = table
        self.context = context
    }

    /// The condition that every row meets, besides one of the alternatives.
    var condition: String {
        var whole = fixed.joined(separator: " AND ")
        if let matchCondition { whole += " AND \(matchCondition.sql)" }
        for term in terms { whole += " AND \(term.condition)" }
        for other in others { whole += " AND \(other.sql)" }
        return whole
    }
    var arguments: [DatabaseValue] {
        (matchCondition?.arguments ?? []) + terms.flatMap(\.arguments) + others.flatMap(\.arguments)
    }
    /// Whether the list is filtered by words alone.
    var isByWordsAlone: Bool { match != nil && terms.isEmpty && others.isEmpty && sync == nil }

    /// Whether an index finds the rows of a condition of `add(_: FilterCondition)`.
    var isSoughtByOthers: Bool { others.contains(where: \.isSought) }
    var readsWholeValues: Bool { match?.query.isLong ?? false || others.contains(where: \.readsWholeValues) }
    /// What has no index in those conditions, and what they read whole besides the entity's own table.
    var unindexed: [String] { others.flatMap(\.unindexed) }
    var scanned: [String] { others.flatMap(\.scanned) }

    mutating func add(_ filter: ListQuery.Filter) throws(CacheError) {
        let field = try filterable(filter.field)
        switch field.kind {
        case .object, .list: return try add(FilterCondition(filter))
        default: break
        }
        if field.sealed, filter.comparison.isRange {
            throw CacheError.badQuery(field: field.name, message: FilterValues.sealedRefusal)
        }
        let column = table.sql(of: field)
        if filter.comparison == .null {
            let wantsNull = try FilterValues.flag(filter.values.first ?? "", named: field.name)
            terms.append(
                Term(
                    field: field.name, column: column, comparison: wantsNull ? .equal : .null,
                    condition: wantsNull ? table.isNull(column) : "\(column) IS NOT NULL", arguments: []))
            return
        }
        let values = try FilterValues(table: table, context: context).values(
            filter.values, of: field, named: field.name, isWhole: !filter.comparison.isRange)
        let condition =
            values.count > 1
            ? "\(column) IN (\(FilterValues.placeholders(values)))" : "\(column) \(filter.comparison.sql) ?"
        terms.append(
            Term(
                field: field.name, column: column, comparison: filter.comparison, condition: condition,
                arguments: values))
    }

    mutating func add(_ condition: FilterCondition) throws(CacheError) {
        others.append(try FilterCompiler(table: table, context: context).compile(condition))
    }

    /// Agrees with the state that `RecordSelect` shows: an error hides a conflict, and both hide an upload.
    mutating func add(_ sync: ListQuery.SyncFilter) {
        self.sync = sync
        func changes(_ condition: String = "") -> String {
            "(SELECT record_key FROM sync_outbox WHERE entity = '\(table.entity.name)'\(condition))"
        }
        let failed = changes(" AND state = \(OutboxState.failed.sql)")
        let uploading = changes(" AND state = \(OutboxState.uploading.sql)")
        let disputed = "(SELECT record_key FROM sync_conflict WHERE entity = '\(table.entity.name)' AND winner IS NULL)"
        switch sync {
        case .synced: fixed.append("_local IS NULL")
        case .pending: fixed += ["_key IN \(changes())", "_key NOT IN \(failed)", "_key NOT IN \(disputed)"]
        case .uploading: fixed += ["_key IN \(uploading)", "_key NOT IN \(failed)", "_key NOT IN \(disputed)"]
        case .conflict: fixed += ["_key IN \(disputed)", "_key NOT IN \(failed)"]
        case .error: fixed.append("_key IN \(failed)")
        }
    }

    mutating func add(_ search: SearchQuery) throws(CacheError) {
        guard let searched = SearchTable(table.entity) else { throw SearchTable.missing(in: table.entity.name) }
        let match = SearchMatch(table: searched, query: search)
        self.match = match
        matchCondition = match.condition
    }

    // MARK: Choosing the index

    /// Call this once, after adding all conditions.
    mutating func arrange(for order: ListOrder, hasCursor: Bool) {
        guard match == nil else { return isSearchedFirst = true }
        let first = order.terms.first
        if hasCursor, let first { leaveBoundToCursor(first) }
        let isOwnOrder = first?.field == table.entity.sort.first?.field
        if let single = index(where: { $0.comparison == .equal && $0.arguments.count <= 1 }) {
            isSearchedFirst = !isOwnOrder && terms[single].field != first?.field
        } else if let several = index(where: { $0.comparison == .equal }) {
            guard terms[several].arguments.count <= Self.mostAlternatives else { return isSearchedFirst = true }
            isSearchedFirst = !isOwnOrder && terms[several].field != first?.field
            isMerged = true
            split(several, into: terms[several].arguments.map { ("\(terms[several].column) = ?", [$0]) })
        } else if sync?.isSought == true || isSoughtByOthers {
            isSearchedFirst = true
        } else if index(where: { $0.comparison.isRange && $0.field == first?.field }) != nil {
            return
        } else if index(where: { $0.comparison.isRange }) != nil {
            isSearchedFirst = true
        } else if let other = index(where: { $0.comparison.isNegation && $0.field == first?.field }) {
            exclude(other, first?.descending ?? false, hasCursor)
        }
    }

    private func index(where matches: (Term) -> Bool) -> Int? {
        terms.firstIndex { table.isIndexed($0.field) && matches($0) }
    }

    /// After a cursor, the index must start at the cursor, not at the filter's bound in the same direction.
    private mutating func leaveBoundToCursor(_ first: SortTerm) {
        let bounds: [ListQuery.Filter.Comparison] = first.descending ? [.less, .atMost] : [.greater, .atLeast]
        for index in terms.indices
        where terms[index].field == first.field && bounds.contains(terms[index].comparison) {
            terms[index].condition = "+" + terms[index].condition
        }
    }

    /// For "all but one value" or "not null": splits the range in two around the value, in the list's order.
    private mutating func exclude(_ index: Int, _ descending: Bool, _ hasCursor: Bool) {
        let column = terms[index].column
        guard terms[index].comparison == .notEqual else {
            if !hasCursor { terms[index].condition = table.isNotNull(column) }
            return
        }
        let value = terms[index].arguments
        let below: BoundSQL = ("\(hasCursor && descending ? "+" : "")\(column) < ?", value)
        let above: BoundSQL = ("\(hasCursor && !descending ? "+" : "")\(column) > ?", value)
        split(index, into: descending ? [above, below] : [below, above])
    }

    private mutating func split(_ index: Int, into parts: [BoundSQL]) {
        terms.remove(at: index)
        alternatives = parts
    }

    // MARK: Fields

    private func filterable(_ name: String) throws(CacheError) -> Field {
        guard let field = table.entity.listed(name) else {
            let known = table.entity.fields.map(\.name) + [Entity.syncedAt.name]
            let hint = Suggestion.hint(for: name, among: known)
            throw CacheError.badQuery(field: name, message: "\(table.entity.name) has no field \(name)\(hint)")
        }
        guard !field.secret else { throw CacheError.badQuery(field: name, message: "this field is secret") }
        return field
    }
}

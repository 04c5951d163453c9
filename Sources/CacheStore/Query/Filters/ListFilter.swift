internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// All conditions of a list as SQL, and which of them an index looks up.
struct ListFilter {
    /// With more values than this, the rows are looked up together and sorted.
    private static let mostAlternatives = 10

    let table: EntityTable
    private var parts: [CompiledFilter] = []
    private let sync: ListQuery.SyncFilter?
    /// The words that must be found.
    let match: SearchMatch?
    /// Each row meets one of these; each gives a part of the list in order. Never empty.
    private(set) var alternatives: [BoundSQL] = [("", [])]
    /// Whether the alternatives must be merged to give the list's order; otherwise they follow one another.
    private(set) var isMerged = false
    /// Whether the index that finds the rows gives another order than the list's.
    private(set) var isSearchedFirst = false

    init(_ query: ListQuery, _ table: EntityTable, _ context: FilterContext) throws(CacheError) {
        self.table = table
        let compiler = FilterCompiler(table: table, context: context)
        for filter in query.filters { parts.append(try compiler.compile(filter)) }
        sync = query.sync
        if let search = query.search {
            guard let searched = SearchTable(table.entity) else { throw SearchTable.missing(in: table.entity.name) }
            match = SearchMatch(table: searched, query: search)
        } else {
            match = nil
        }
    }

    /// The condition that every row meets, besides one of the alternatives, with the values bound to it.
    var condition: BoundSQL {
        let found = match?.condition
        let all = ["_deleted = 0"] + (sync.map(conditions) ?? []) + (found.map { [$0.sql] } ?? []) + parts.map(\.sql)
        return (all.joined(separator: " AND "), (found?.arguments ?? []) + parts.flatMap(\.arguments))
    }

    /// Whether the list is filtered by words alone.
    var isByWordsAlone: Bool { match != nil && parts.isEmpty && sync == nil }
    var readsWholeValues: Bool { match?.query.isLong ?? false || parts.contains(where: \.readsWholeValues) }

    /// The fields without an index that make a list read a whole table, its own or another; each once.
    func unindexed(sortedBy sort: [SortTerm]) -> [String] {
        var fields = parts.flatMap(\.scanned)
        if sync?.isSought != true, match == nil, !parts.contains(where: \.isSought) {
            fields += parts.flatMap(\.unindexed) + sort.prefix(1).map(\.field).filter { !table.isIndexed($0) }
        }
        return fields.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Agrees with the state that `RecordSelect` shows: an error hides a conflict, and both hide an upload.
    private func conditions(_ sync: ListQuery.SyncFilter) -> [String] {
        func changes(_ condition: String = "") -> String {
            "(SELECT record_key FROM sync_outbox WHERE entity = '\(table.entity.name)'\(condition))"
        }
        let failed = changes(" AND state = \(OutboxState.failed.sql)")
        let uploading = changes(" AND state = \(OutboxState.uploading.sql)")
        let disputed = "(SELECT record_key FROM sync_conflict WHERE entity = '\(table.entity.name)' AND winner IS NULL)"
        return switch sync {
        case .synced: ["_local IS NULL"]
        case .pending: ["_key IN \(changes())", "_key NOT IN \(failed)", "_key NOT IN \(disputed)"]
        case .uploading: ["_key IN \(uploading)", "_key NOT IN \(failed)", "_key NOT IN \(disputed)"]
        case .conflict: ["_key IN \(disputed)", "_key NOT IN \(failed)"]
        case .error: ["_key IN \(failed)"]
        }
    }

    // MARK: Choosing the index

    /// The same, arranged for the order of a page. Call it on a filter that is not arranged yet.
    func arranged(for order: ListOrder, hasCursor: Bool) -> ListFilter {
        var filter = self
        filter.arrange(order, hasCursor)
        return filter
    }

    private mutating func arrange(_ order: ListOrder, _ hasCursor: Bool) {
        guard match == nil else { return isSearchedFirst = true }
        let first = order.terms.first
        if hasCursor, let first { leaveBoundToCursor(first) }
        func isFirst(_ lookup: CompiledFilter.Lookup) -> Bool { lookup.field == first?.field }
        let isOwnOrder = first?.field == table.entity.sort.first?.field
        if let (_, lookup) = lookup(where: { $0.shape == .equal && $1.count <= 1 }) {
            isSearchedFirst = !isOwnOrder && !isFirst(lookup)
        } else if let (place, lookup) = lookup(where: { lookup, _ in lookup.shape == .equal }) {
            let values = parts[place].arguments
            guard values.count <= Self.mostAlternatives else { return isSearchedFirst = true }
            isSearchedFirst = !isOwnOrder && !isFirst(lookup)
            isMerged = true
            split(place, into: values.map { ("\(lookup.column) = ?", [$0]) })
        } else if sync?.isSought == true || parts.contains(where: { $0.isSought && $0.lookup == nil }) {
            isSearchedFirst = true
        } else if lookup(where: { lookup, _ in lookup.shape.isRange && isFirst(lookup) }) != nil {
            return
        } else if lookup(where: { lookup, _ in lookup.shape.isRange }) != nil {
            isSearchedFirst = true
        } else if let (place, lookup) = lookup(where: { lookup, _ in lookup.shape.isNegation && isFirst(lookup) }) {
            exclude(place, lookup, first?.descending ?? false, hasCursor)
        }
    }

    private func lookup(
        where fits: (_ lookup: CompiledFilter.Lookup, _ values: [DatabaseValue]) -> Bool
    ) -> (place: Int, lookup: CompiledFilter.Lookup)? {
        for (place, part) in parts.enumerated() {
            if let lookup = part.lookup, fits(lookup, part.arguments) { return (place, lookup) }
        }
        return nil
    }

    /// After a cursor, the index must start at the cursor, not at the filter's bound in the same direction.
    private mutating func leaveBoundToCursor(_ first: SortTerm) {
        for place in parts.indices {
            guard let lookup = parts[place].lookup, lookup.field == first.field else { continue }
            if lookup.shape == (first.descending ? .below : .above) { parts[place].sql = "+" + parts[place].sql }
        }
    }

    /// For "all but one value" or "not null": splits the range in two around the value, in the list's order.
    private mutating func exclude(
        _ place: Int, _ lookup: CompiledFilter.Lookup, _ descending: Bool, _ hasCursor: Bool
    ) {
        let column = lookup.column
        guard lookup.shape == .notEqual else {
            if !hasCursor { parts[place].sql = table.isNotNull(column) }
            return
        }
        let value = parts[place].arguments
        let below: BoundSQL = ("\(hasCursor && descending ? "+" : "")\(column) < ?", value)
        let above: BoundSQL = ("\(hasCursor && !descending ? "+" : "")\(column) > ?", value)
        split(place, into: descending ? [above, below] : [below, above])
    }

    private mutating func split(_ place: Int, into ranges: [BoundSQL]) {
        parts.remove(at: place)
        alternatives = ranges
    }
}

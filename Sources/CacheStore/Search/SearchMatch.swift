internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// One search of one entity as SQL: the ways in which a record can match, each a query for `_pk`s.
///
/// Every word must be found: as a word or, if it has a digit, as part of a number. The whole text may also be part of a
/// number. Values are always bound.
struct SearchMatch {
    let table: SearchTable
    var query: SearchQuery
    /// Only records with these `_pk`s; FTS5 reads no others.
    var span: ClosedRange<Int64>?

    /// The condition of a list: all matches.
    var condition: BoundSQL {
        let all = all
        return ("_pk IN (\(all.sql))", all.arguments)
    }

    /// All matches; some of them may come twice.
    var all: BoundSQL {
        let ways = [anywhere, asFragment, mixed].compactMap(\.self)
        guard !ways.isEmpty else { return ("SELECT NULL AS pk WHERE 0", []) }
        return (ways.map(\.sql).joined(separator: " UNION ALL "), ways.flatMap(\.arguments))
    }

    /// The newest `limit` records of each way, as `(rank, pk)`, best way first.
    func ranked(limit: Int) -> BoundSQL? {
        let ways = [inTitle(exact: true), inTitle(exact: false), asFragment, anywhere, mixed]
        let present = ways.enumerated().compactMap { rank, way in way.map { (rank, $0) } }
        guard !present.isEmpty else { return nil }
        let sql = present.map { rank, way in
            "SELECT * FROM (SELECT \(rank) AS rank, pk FROM (\(way.sql)) ORDER BY pk DESC LIMIT \(limit))"
        }
        return (sql.joined(separator: " UNION ALL "), present.flatMap { $0.1.arguments })
    }

    // MARK: Ways

    /// By a whole word and by a prefix; without the second where it finds the same. The words of titles are also in the
    /// table of words.
    private func inTitle(exact: Bool) -> BoundSQL? {
        guard !query.isLastUnknown, exact || !query.isLastWhole else { return nil }
        return table.titles.map { way($0, query.expression(exact: exact)) }
    }

    private var anywhere: BoundSQL? { query.isLastUnknown ? nil : table.words.map { way($0, query.expression()) } }

    private var asFragment: BoundSQL? {
        guard let part = table.fragments, let fragment = query.fragment else { return nil }
        return way(part, fragment)
    }

    /// Some words match as words, others as parts of numbers: `ada 900123`.
    private var mixed: BoundSQL? {
        let numbers = query.numbers
        guard let fragments = table.fragments, query.words.count > 1, !numbers.isEmpty else { return nil }
        let plain = query.words.indices.filter { index in !numbers.contains { $0.index == index } }
        if table.words == nil && !plain.isEmpty { return nil }
        var sets = numbers.map { number -> BoundSQL in
            let fragment = way(fragments, number.fragment)
            guard let words = table.words else { return fragment }
            let word = way(words, query.term(at: number.index))
            return ("\(word.sql) UNION ALL \(fragment.sql)", word.arguments + fragment.arguments)
        }
        if let words = table.words, !plain.isEmpty {
            sets.insert(way(words, plain.map { query.term(at: $0) }.joined(separator: " AND ")), at: 0)
        }
        let rest = sets.dropFirst().map { "pk IN (\($0.sql))" }
        return (
            "SELECT pk FROM (\(sets[0].sql))" + (rest.isEmpty ? "" : " WHERE \(rest.joined(separator: " AND "))"),
            sets.flatMap(\.arguments)
        )
    }

    private func way(_ part: SearchPart, _ expression: String) -> BoundSQL {
        var way: BoundSQL = (
            "SELECT rowid AS pk FROM \(part.name) WHERE \(part.name) MATCH ?", [expression.databaseValue]
        )
        if let span {
            way.sql += " AND rowid BETWEEN ? AND ?"
            way.arguments += [span.lowerBound.databaseValue, span.upperBound.databaseValue]
        }
        return way
    }
}

internal import EntitySchema
internal import GRDB

/// One search of one entity as SQL: the ways in which a record can match, each a query for `_pk`s.
///
/// Every word must be found: as a word or, if it has a digit, as part of a number. The whole text may also be part of a
/// number. Values are always bound.
struct SearchMatch {
    struct Way {
        var sql: String
        var arguments: [DatabaseValue]
    }

    let table: SearchTable
    let query: SearchQuery

    /// The condition of a list: all matches.
    var condition: Way {
        guard let all else { return Way(sql: "0", arguments: []) }
        return Way(sql: "_pk IN (\(all.sql))", arguments: all.arguments)
    }

    /// The condition of a list whose records are known to be within these `_pk`s; FTS5 reads no others.
    func condition(within span: ClosedRange<Int64>) -> Way {
        guard let all else { return condition }
        return Way(
            sql: "_pk IN (SELECT pk FROM (\(all.sql)) WHERE pk BETWEEN ? AND ?)",
            arguments: all.arguments + [span.lowerBound.databaseValue, span.upperBound.databaseValue])
    }

    private var all: Way? {
        let ways = [anywhere, asFragment, mixed].compactMap(\.self)
        guard !ways.isEmpty else { return nil }
        return Way(sql: ways.map(\.sql).joined(separator: " UNION ALL "), arguments: ways.flatMap(\.arguments))
    }

    /// The newest `limit` records of each way, as `(rank, pk)`, best way first.
    func ranked(limit: Int) -> Way? {
        let ways = [inTitle(exact: true), inTitle(exact: false), asFragment, anywhere, mixed]
        let present = ways.enumerated().compactMap { rank, way in way.map { (rank, $0) } }
        guard !present.isEmpty else { return nil }
        let sql = present.map { rank, way in
            "SELECT * FROM (SELECT \(rank) AS rank, pk FROM (\(way.sql)) ORDER BY pk DESC LIMIT \(limit))"
        }
        return Way(sql: sql.joined(separator: " UNION ALL "), arguments: present.flatMap { $0.1.arguments })
    }

    // MARK: Ways

    private func inTitle(exact: Bool) -> Way? {
        let columns = table.titleWords.map(SearchTable.column)
        guard !columns.isEmpty else { return nil }
        return words("{\(columns.joined(separator: " "))} : (\(query.expression(exact: exact)))")
    }

    private var anywhere: Way? { table.words.isEmpty ? nil : words(query.expression()) }

    private var asFragment: Way? {
        guard !table.fragments.isEmpty, let fragment = query.fragment else { return nil }
        return fragments(fragment)
    }

    /// Some words match as words, others as parts of numbers: `ada 900123`.
    private var mixed: Way? {
        let numbers = query.numbers
        guard !table.fragments.isEmpty, query.words.count > 1, !numbers.isEmpty else { return nil }
        let plain = query.words.indices.filter { index in !numbers.contains { $0.index == index } }
        if table.words.isEmpty && !plain.isEmpty { return nil }
        var sets = numbers.map { number -> Way in
            let part = fragments(number.fragment)
            guard !table.words.isEmpty else { return part }
            let word = words(query.term(at: number.index))
            return Way(sql: "\(word.sql) UNION ALL \(part.sql)", arguments: word.arguments + part.arguments)
        }
        if !plain.isEmpty {
            sets.insert(words(plain.map { query.term(at: $0) }.joined(separator: " ")), at: 0)
        }
        let rest = sets.dropFirst().map { "pk IN (\($0.sql))" }
        return Way(
            sql: "SELECT pk FROM (\(sets[0].sql))" + (rest.isEmpty ? "" : " WHERE \(rest.joined(separator: " AND "))"),
            arguments: sets.flatMap(\.arguments))
    }

    private func words(_ expression: String) -> Way { Self.way(table.wordsName, expression) }
    private func fragments(_ expression: String) -> Way { Self.way(table.fragmentsName, expression) }

    private static func way(_ name: String, _ expression: String) -> Way {
        Way(sql: "SELECT rowid AS pk FROM \(name) WHERE \(name) MATCH ?", arguments: [expression.databaseValue])
    }
}

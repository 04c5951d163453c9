internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import JSONText
internal import SQLiteStore

/// One record that a search found.
package struct SearchHit: Sendable, Equatable {
    package var entity: String
    package var key: String
    /// The record's name, as users know it.
    package var title: String
    /// The matching text with the match between « and »; empty when it cannot be shown.
    package var snippet: String
}

package struct SearchResult: Sendable, Equatable {
    package var hits: [SearchHit]
    /// False while a load is still being indexed.
    package var isComplete: Bool
}

/// Full-text search across entities.
extension CacheStore {
    private struct Candidate {
        var rank: Int64
        /// Its place among the records of its entity and rank, newest first.
        var place: Int
        var table: SearchTable
        var pk: Int64
    }

    /// The best `limit` records: by where they match (`SearchMatch.ranked`), then the newest of each entity in turn.
    ///
    /// At most `limit` records per entity and kind of match are read, so a common word costs what a rare one does.
    /// Throws `.badQuery` when a named entity has no searched field.
    package func search(_ query: SearchQuery, entities: [String]? = nil, limit: Int) throws -> SearchResult {
        let tables = try searched(entities)
        return try readers.read { connection in
            var result = SearchResult(hits: [], isComplete: true)
            try connection.snapshot {
                var found: [Candidate] = []
                for table in tables {
                    found += try Self.candidates(SearchMatch(table: table, query: query), limit, connection)
                    result.isComplete = try result.isComplete && Self.isIndexed(table, connection)
                }
                let order = Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.entity.name, $0) })
                found.sort { one, other in
                    (one.rank, one.place, order[one.table.entity.name] ?? 0)
                        < (other.rank, other.place, order[other.table.entity.name] ?? 0)
                }
                result.hits = try found.prefix(limit).compactMap { try Self.hit($0, query, connection) }
            }
            return result
        }
    }

    /// Each table once, also when a name is given twice.
    private func searched(_ names: [String]?) throws -> [SearchTable] {
        guard let names else { return schema.entities.compactMap { SearchTable($0) } }
        var tables: [SearchTable] = []
        for name in names where !tables.contains(where: { $0.entity.name == name }) {
            guard let table = SearchTable(try table(name).entity) else { throw SearchTable.missing(in: name) }
            tables.append(table)
        }
        return tables
    }

    private static func candidates(
        _ match: SearchMatch, _ limit: Int, _ connection: ReadConnection
    ) throws -> [Candidate] {
        guard let way = match.ranked(limit: limit) else { return [] }
        var ranks: [Int64: Int64] = [:]
        try connection.query(way.sql, way.arguments) { statement in
            let (rank, pk) = (sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1))
            ranks[pk] = min(rank, ranks[pk] ?? rank)
            return true
        }
        var places: [Int64: Int] = [:]
        return ranks.sorted { $0.key > $1.key }.map { pk, rank in
            let place = places[rank, default: 0]
            places[rank] = place + 1
            return Candidate(rank: rank, place: place, table: match.table, pk: pk)
        }
    }

    private static func isIndexed(_ table: SearchTable, _ connection: ReadConnection) throws -> Bool {
        var isIndexed = true
        let sql = """
            SELECT indexed_to >= (SELECT coalesce(max(_pk), 0) FROM \(table.table.name)) FROM sync_search
            WHERE entity = ?
            """
        try connection.query(sql, [table.entity.name.databaseValue]) { statement in
            isIndexed = sqlite3_column_int64(statement, 0) != 0
            return false
        }
        return isIndexed
    }

    // MARK: One hit

    private static func hit(
        _ candidate: Candidate, _ query: SearchQuery, _ connection: ReadConnection
    ) throws -> SearchHit? {
        let entity = candidate.table.entity
        let sql = "SELECT \(EntityTable.document), _key FROM \(candidate.table.table.name) WHERE _pk = ?"
        var row: (document: String, key: String)?
        try connection.query(sql, [candidate.pk.databaseValue]) { statement in
            row = (RecordBytes.text(0, of: statement), RecordBytes.text(1, of: statement))
            return false
        }
        guard let row, let record = try? JSONText(parsing: row.document) else { return nil }
        let title = entity.title(of: record)
        let snippet =
            try snippetOfWords(candidate, query, connection) ?? snippetOfFragment(candidate.table, query, record) ?? ""
        return SearchHit(entity: entity.name, key: row.key, title: title.isEmpty ? row.key : title, snippet: snippet)
    }

    private static func snippetOfWords(
        _ candidate: Candidate, _ query: SearchQuery, _ connection: ReadConnection
    ) throws -> String? {
        let name = candidate.table.wordsName
        guard !candidate.table.words.isEmpty else { return nil }
        let sql = """
            SELECT snippet(\(name), -1, '\(FragmentMark.open)', '\(FragmentMark.close)', '…', 12) FROM \(name)
            WHERE \(name) MATCH ? AND rowid = ?
            """
        var snippet: String?
        try connection.query(sql, [query.expression().databaseValue, candidate.pk.databaseValue]) { statement in
            snippet = RecordBytes.text(0, of: statement)
            return false
        }
        return snippet
    }

    /// The field with the longest match: the whole text if there is one, else the first word.
    private static func snippetOfFragment(_ table: SearchTable, _ query: SearchQuery, _ record: JSONText) -> String? {
        let values = table.fragments.compactMap { table.entity.value(of: $0, in: record)?.plain }
        let parts = [query.words.joined()] + query.numbers.map { query.words[$0.index] }
        for part in parts {
            if let marked = values.lazy.compactMap({ FragmentMark.marked($0, part) }).first { return marked }
        }
        return nil
    }

    // MARK: Keeping the index current

    /// Call this before each search and each list with `q`: they then find everything that was acknowledged before.
    /// When nothing can be written now, they find what was indexed last. Throws when the cache cannot be read.
    package func catchUpSearch() async throws {
        guard try read(searchCatchUp.isBehind) else { return }
        do {
            try await writer.write(searchCatchUp.run)
        } catch CacheError.unwritable {}
    }

    /// Local writes go in between two batches.
    private static let searchBatch: Int64 = 1000

    /// Indexes the records that a load has left, batch by batch; writes nothing when there are none. After a
    /// cancellation the rest stays for the next call or opening.
    package func completeSearch() async throws {
        for entity in schema.entities {
            guard let table = SearchTable(entity) else { continue }
            while try !Task.isCancelled && read({ db in try SearchIndex(table: table, db: db).lag() }) > 0 {
                let goesOn = try await writer.write { db in
                    try SearchIndex(table: table, db: db).append(atMost: Self.searchBatch)
                }
                if !goesOn { break }
            }
        }
    }
}

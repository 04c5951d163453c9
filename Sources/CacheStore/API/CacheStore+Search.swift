internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import JSONText
internal import SQLiteStore

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
        var pk: Int64
        /// The index of its entity's search.
        var search: Int
    }

    /// The best `limit` records: by where they match (`SearchMatch.ranked`), then the newest of each entity in turn.
    ///
    /// At most `limit` records per entity and kind of match are read, so a common word costs what a rare one does.
    /// One that takes long is read on another thread. Throws `.badQuery` when a named entity has no searched field.
    package func search(
        _ query: SearchQuery, entities: [String]? = nil, limit: Int, for caller: ReadCaller = .daemon
    ) async throws -> SearchResult {
        let tables = try searched(entities)
        let isLong = query.isLong || tables.contains { queries.records[$0.entity.name]?.large.isRaised ?? false }
        if !isLong, let found = try quickly({ try Self.found(query, in: tables, limit, $0) }) { return found }
        return try await longReads.read(for: caller) { try Self.found(query, in: tables, limit, $0) }
    }

    private static func found(
        _ query: SearchQuery, in tables: [SearchTable], _ limit: Int, _ connection: ReadConnection
    ) throws -> SearchResult {
        var result = SearchResult(hits: [], isComplete: true)
        try connection.snapshot {
            let matches = try tables.map { table in
                try SearchMatch(
                    table: table,
                    query: SearchCompletion(table: table, connection: connection).completed(query))
            }
            var found: [Candidate] = []
            for (index, match) in matches.enumerated() {
                found += try candidates(match, index, limit, connection)
                result.isComplete = try result.isComplete && isIndexed(match.table, connection)
            }
            found.sort { ($0.rank, $0.place, $0.search) < ($1.rank, $1.place, $1.search) }
            found = Array(found.prefix(limit))
            let hits = try matches.enumerated().map { index, match in
                try SearchHits(match: match, connection: connection)
                    .read(found.filter { $0.search == index }.map(\.pk))
            }
            result.hits = found.compactMap { hits[$0.search][$0.pk] }
        }
        return result
    }

    /// Each table once, also when a name is given twice.
    private func searched(_ names: [String]?) throws -> [SearchTable] {
        guard let names else { return searchCatchUp.all }
        var tables: [SearchTable] = []
        for name in names where !tables.contains(where: { $0.entity.name == name }) {
            guard let table = SearchTable(try table(name).entity) else { throw SearchTable.missing(in: name) }
            tables.append(table)
        }
        return tables
    }

    private static func candidates(
        _ match: SearchMatch, _ search: Int, _ limit: Int, _ connection: ReadConnection
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
            return Candidate(rank: rank, place: place, pk: pk, search: search)
        }
    }

    private static func isIndexed(_ table: SearchTable, _ connection: ReadConnection) throws -> Bool {
        try connection.first(table.lag) { sqlite3_column_int64($0, 0) <= 0 } ?? true
    }

    // MARK: Keeping the index current

    /// Call this before each search and each list with `q`: they then find everything that was acknowledged before.
    /// When nothing can be written now, they find what was indexed last. Throws when the cache cannot be read.
    package func catchUpSearch(for caller: ReadCaller = .daemon) async throws {
        guard try isSearchBehind() else { return }
        do {
            try await writer.write(for: caller.name) { [plans, searchCatchUp] db in
                try plans.searchBacklog.work(searchCatchUp, db)
            }
        } catch CacheError.unwritable {}
    }

    private func isSearchBehind() throws -> Bool {
        guard let sql = searchCatchUp.outdated else { return false }
        return try readers.read { try $0.first(sql) { _ in true } ?? false }
    }

    /// Indexes the records that a load has left or that a new index lacks, batch by batch, and merges what a large load
    /// leaves; local writes go in between. Writes nothing when there is nothing to do. After a cancellation the rest
    /// stays for the next call, also in another process.
    package func completeSearch() async throws {
        for table in searchCatchUp.all {
            while try !Task.isCancelled && read({ db in try SearchIndex(table: table, db: db).lag() }) > 0 {
                guard try await writer.write({ db in try SearchIndex(table: table, db: db).load() }) else { break }
            }
            guard try read({ db in try SearchIndex(table: table, db: db).mergeStep() }) != nil else { continue }
            while !Task.isCancelled {
                guard try await writer.write({ db in try SearchIndex(table: table, db: db).merge() }) else { break }
            }
        }
    }
}

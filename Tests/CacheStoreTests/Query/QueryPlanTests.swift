import EntitySchema
import Foundation
import GRDB
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

/// Checks SQLite's query plan for every list on an indexed field of the shipped schemas.
@Suite("Query plans")
struct QueryPlanTests {
    private static let schemas = ["repairminder", "repairminder-live"]

    /// One list and its expectations.
    private struct Case {
        var query: ListQuery
        var field: Field

        init(_ query: ListQuery, _ sort: [SortTerm], _ field: Field) {
            self.query = query
            self.query.sort = sort
            self.field = field
        }

        /// The first field of the list's order.
        func first(_ entity: Entity) -> String { query.sort.first?.field ?? entity.sort.first?.field ?? "" }
    }

    @Test("no list on an indexed field scans the whole table, on the first page or later ones", arguments: schemas)
    func noScan(_ name: String) throws {
        let cache = try shipped(name)
        var count = 0
        for entity in cache.store.schema.entities {
            for item in cases(entity) {
                for plan in try plans(item, entity, cache) {
                    count += 1
                    let reads = plan.filter {
                        $0.hasPrefix("SCAN \(EntityTable(entity: entity).name.filter { $0 != "\"" })")
                    }
                    // Without an order, a list is in that of arrival, which is the table's own.
                    let isInArrival = item.first(entity).isEmpty && !plan.contains { $0.contains("TEMP B-TREE") }
                    let walksOrder = reads.allSatisfy {
                        isInArrival || $0.contains(" USING INDEX ") || $0.contains(" USING COVERING INDEX ")
                    }
                    let isSought = filter(item).map(isSought) == true || item.query.sync?.isSought == true
                    #expect(isSought ? reads.isEmpty : walksOrder, "\(item.query) \(plan) \(TestRun.note())")
                }
            }
        }
        #expect(count > (TestRun.isFull ? 1000 : 500))
    }

    @Test("nothing is sorted if an index gives the order", arguments: schemas)
    func noSort(_ name: String) throws {
        let cache = try shipped(name)
        for entity in cache.store.schema.entities {
            let own = entity.sort.first?.field
            for item in cases(entity) where item.query.sync?.isSought != true {
                let first = item.first(entity)
                let filter = filter(item)
                let isFound = filter.map(isSought) ?? false
                let isEqual = isFound && (filter?.operation == .equal || filter?.operation == .null)
                let isNegation = !isFound
                guard first == item.field.name || first == own && isEqual || isNegation else { continue }
                // If several values are merged, each contributes one page at most.
                for plan in try plans(item, entity, cache) where plan.first != "MERGE (UNION ALL)" {
                    #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(item.query) \(plan) \(TestRun.note())")
                }
            }
        }
    }

    @Test("a search looks up the search index and then the records by key", arguments: schemas)
    func search(_ name: String) throws {
        let cache = try shipped(name)
        let searched = cache.store.schema.entities.filter { SearchTable($0) != nil }
        #expect(!searched.isEmpty)
        for entity in searched {
            let table = EntityTable(entity: entity)
            for text in ["ada smi", "900123", "ada 900123"] {
                var query = ListQuery(entity: entity.name)
                query.search = try SearchQuery(text)
                let plan = try plan(
                    ListStatement(table: table, query: query, context: cache.store.filterContext), cache)
                #expect(!plan.contains { $0.hasPrefix("SCAN \(table.name.filter { $0 != "\"" })") }, "\(text) \(plan)")
            }
        }
    }

    @Test("a search walk follows an index, and FTS5 reads a range of rows", arguments: schemas)
    func walk(_ name: String) throws {
        let cache = try shipped(name)
        let table = try cache.store.table("orders")
        var query = ListQuery(entity: "orders")
        query.search = try SearchQuery("ada")
        let walk = try #require(try ListStatement(table: table, query: query, context: cache.store.filterContext).walk)
        let entries = walk.entries(atMost: 1000)
        let walked = try plan(entries.sql, entries.arguments, cache)
        let index = try #require(table.entity.sort.first.map { "orders_by_\($0.field)" })
        let scans = walked.filter { $0.hasPrefix("SCAN records_orders ") }
        #expect(scans.count == 1 && scans.allSatisfy { $0.hasSuffix(" \(index)") }, "\(walked)")
        #expect(!walked.contains { $0.contains("TEMP B-TREE") }, "\(walked)")
        var match = walk.match
        match.span = 1...2000
        let searched = try plan(match.all.sql, match.all.arguments, cache).filter { $0.hasPrefix("SCAN sync_orders_") }
        #expect(!searched.isEmpty && searched.allSatisfy { $0.hasSuffix("><") }, "\(searched)")
    }

    @Test("the newest matches are read from the end of the search index, and snippets by row", arguments: schemas)
    func newest(_ name: String) throws {
        let cache = try shipped(name)
        let table = try #require(SearchTable(cache.store.table("orders").entity))
        let match = SearchMatch(table: table, query: try SearchQuery("ada"))
        let ranked = try #require(match.ranked(limit: 20))
        let plan = try plan(ranked.sql, ranked.arguments, cache)
        #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
        let snippets = try #require(table.words).snippets
        let reads = try self.plan(snippets, ["ada".databaseValue, "[1, 2]".databaseValue], cache)
        #expect(reads.contains { $0.hasPrefix("SCAN sync_orders_words") && $0.contains(":=") }, "\(reads)")
    }

    @Test("a page of the queue in its own order is read from its place on, without sorting", arguments: schemas)
    func queue(_ name: String) throws {
        let cache = try shipped(name)
        func reads(_ query: PendingQuery) throws -> [String] {
            let page = try PendingStatement(query, schema: cache.store.schema, strangers: [])
            let plan = try plan(page.sql, page.arguments, cache)
            return plan.filter { $0.contains(" outbox") || $0.contains("ORDER BY") }
        }
        let first = PendingQuery(limit: 50)
        let page = try PendingStatement(first, schema: cache.store.schema, strangers: [])
        let next = try cache.store.pool.read { db in
            try Row.fetchOne(db, sql: "SELECT 7 AS id").map(page.cursor)
        }
        #expect(try reads(first) == ["SCAN outbox"])
        #expect(try reads(PendingQuery(cursor: next)) == ["SEARCH outbox USING INTEGER PRIMARY KEY (rowid>?)"])
        #expect(try reads(PendingQuery(sort: [SortTerm(text: "-id")])) == ["SCAN outbox"])
        let ofRecord = try reads(PendingQuery(record: "a"))
        #expect(
            ofRecord.first == "SEARCH outbox USING INDEX sync_outbox_by_record (entity=? AND record_key=?)",
            "\(ofRecord)")
    }

    @Test("the next change to send is found without scanning the queue", arguments: schemas)
    func ready(_ name: String) throws {
        let sql = CacheStore.readySQL("content IS NULL")
        let plan = try plan(sql, [0.databaseValue, 8.databaseValue], shipped(name))
        let reads = plan.filter { $0.contains(" change ") }
        #expect(
            reads == [
                "SCAN change USING INDEX sync_outbox_ready",
                "SEARCH change USING INDEX sync_outbox_due (next_attempt_at<?)",
            ], "\(plan)")
        #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
    }

    @Test("an update of the search index looks up each row", arguments: schemas)
    func renewal(_ name: String) throws {
        let cache = try shipped(name)
        for table in cache.store.schema.entities.compactMap({ SearchTable($0) }) {
            for sql in table.catchUp.map(\.sql) {
                let plan = try cache.store.pool.read { db in
                    try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)", arguments: [0])
                        .map { $0["detail"] as String }
                }
                #expect(plan.contains("SEARCH now USING INTEGER PRIMARY KEY (rowid=?)"), "\(sql) \(plan)")
            }
        }
    }

    @Test("what a deletion asks of all records that go with it has indexes", arguments: ["propdocs", "messages"])
    func cascades(_ name: String) throws {
        let cache = try shipped(name)
        var count = 0
        for entity in cache.store.schema.entities {
            let cascade = CascadeStatement(from: entity, in: cache.store.schema)
            let isIndexed = cascade.relations.allSatisfy { $0.rule != .keep }
            for sql in [cascade.denied, cascade.changed, isIndexed ? cascade.departed : nil].compactMap(\.self) {
                count += 1
                let plan = try plan(sql, ["a".databaseValue], cache)
                #expect(!plan.contains { $0.hasPrefix("SCAN records_") }, "\(plan)")
            }
        }
        #expect(count > 0)
    }

    // MARK: Parts

    private func shipped(_ name: String) throws -> TestCache {
        try TestCache(schema: ProjectFiles.text("config/schemas/\(name).yaml"))
    }

    /// Lists on each indexed field: every condition in every order by an indexed field, or, unless the run is full, each
    /// condition in an order that concerns the field and in one order drawn from all, and each order at least once.
    private func cases(_ entity: Entity) -> [Case] {
        let fields = entity.fields.filter { EntityTable(entity: entity).isIndexed($0.name) }
        func orders(_ field: Field) -> [[SortTerm]] {
            [[SortTerm(text: field.name)], [SortTerm(text: "-\(field.name)")]]
        }
        let all = [[]] + fields.flatMap(orders)
        var deck = Deck(all)
        var random = SeededRandom()
        return fields.flatMap { field -> [Case] in
            let conditions = conditions(field, entity)
            if TestRun.isFull { return conditions.flatMap { query in all.map { Case(query, $0, field) } } }
            let own = [[]] + orders(field)
            let turn = random.below(own.count)
            return conditions.enumerated().flatMap { index, query in
                [Case(query, own[(index + turn) % own.count], field), Case(query, deck.draw(), field)]
            }
        }
    }

    /// Every filter on a field, every state of syncing, and no condition.
    private func conditions(_ field: Field, _ entity: Entity) -> [ListQuery] {
        filters(field).map { ListQuery(entity: entity.name, filters: [$0]) }
            + ListQuery.SyncFilter.allCases.map { ListQuery(entity: entity.name, sync: $0) }
            + [ListQuery(entity: entity.name)]
    }

    /// The only filter of a case, if it has one.
    private func filter(_ item: Case) -> FilterComparison? { item.query.filters.first?.comparisons.first }

    /// Whether an index can seek the rows that meet it.
    private func isSought(_ filter: FilterComparison) -> Bool {
        filter.operation != .notEqual && !(filter.operation == .null && filter.value == "false")
    }

    private func filters(_ field: Field) -> [FilterCondition] {
        let values =
            switch field.kind {
            case .integer, .number, .money: ["7", "8"]
            case .time, .date: ["2026-01-02", "2026-01-03"]
            case .boolean: ["true", "false"]
            case .enum(let known): known.prefix(2).map(\.value) + ["x", "y"].prefix(max(2 - known.count, 0))
            default: ["x", "y"]
            }
        return PendingQuery.comparisons.flatMap { comparison -> [FilterCondition] in
            switch comparison {
            case .equal:
                [
                    .init(field: field.name, comparison: .equal, values: [values[0]]),
                    .init(field: field.name, comparison: .equal, values: values),
                ]
            case .null: ["true", "false"].map { .init(field: field.name, comparison: .null, values: [$0]) }
            default: [.init(field: field.name, comparison: comparison, values: [values[0]])]
            }
        }
    }

    /// The plans of the first page and of a page after a cursor.
    private func plans(_ item: Case, _ entity: Entity, _ cache: TestCache) throws -> [[String]] {
        let table = EntityTable(entity: entity)
        let first = try ListStatement(table: table, query: item.query, context: cache.store.filterContext)
        var later = item.query
        let values = first.order.terms.map { term -> DatabaseValue in
            switch entity[field: term.field]?.kind {
            case .integer, .number, .money, .boolean: 5.databaseValue
            default: "2026".databaseValue
            }
        }
        later.cursor = first.cursor(after: values + [9.databaseValue])
        return try [
            plan(first, cache),
            plan(ListStatement(table: table, query: later, context: cache.store.filterContext), cache),
        ]
    }

    private func plan(_ list: ListStatement, _ cache: TestCache) throws -> [String] {
        try list.statements.flatMap { try plan($0.sql, $0.arguments, cache) }
    }

    private func plan(_ sql: String, _ arguments: [DatabaseValue], _ cache: TestCache) throws -> [String] {
        try cache.store.readers.read { connection in
            var lines: [String] = []
            try connection.query("EXPLAIN QUERY PLAN \(sql)", arguments) { statement in
                lines.append(RecordBytes.text(3, of: statement))
                return true
            }
            return lines
        }
    }
}

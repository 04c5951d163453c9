import EntitySchema
import Foundation
import GRDB
import JSONText
import SQLiteStore
import Testing

@testable import CacheStore

@Suite("The texts of lists")
struct ListTextTests {
    private static let queries: [ListQuery] = [
        ListQuery(entity: "orders"),
        ListQuery(entity: "orders", sort: [SortTerm(text: "-created_at")]),
        ListQuery(entity: "orders", sort: [SortTerm(text: "created_at")]),
        ListQuery(entity: "orders", sort: [SortTerm(text: "-created_at"), SortTerm(text: "id")]),
        ListQuery(entity: "orders", sort: [SortTerm(text: "number")], fields: ["number"]),
        ListQuery(entity: "orders", fields: ["number"], count: true),
        ListQuery(
            entity: "orders", filters: [FilterCondition(field: "status", comparison: .equal, values: ["new", "done"])]),
        ListQuery(entity: "orders", sync: .pending, count: true),
    ]

    @Test("what lists of an entity share gives the same statements and cursors as without it", arguments: queries)
    func common(_ query: ListQuery) throws {
        let cache = try TestCache(schema: CreationDefaultTests.shop)
        let table = try cache.store.table("orders")
        func list(_ common: ListStatement.Common?) throws -> ListStatement {
            try ListStatement(table: table, query: query, context: cache.store.filterContext, common: common)
        }
        let (shared, alone) = (try list(ListStatement.Common(table)), try list(nil))
        #expect(shared.statements.map(\.sql) == alone.statements.map(\.sql))
        #expect(shared.statements.map(\.arguments) == alone.statements.map(\.arguments))
        #expect(shared.count.sql == alone.count.sql && shared.count.arguments == alone.count.arguments)
        let position = alone.order.terms.indices.map { Int64($0).databaseValue } + [7.databaseValue]
        #expect(shared.cursor(after: position) == alone.cursor(after: position))
    }

    @Test("and the same after a cursor, also at a null, and at one that was made up", arguments: queries, 0..<3)
    func commonLater(_ query: ListQuery, nulls: Int) throws {
        let cache = try TestCache(schema: CreationDefaultTests.shop)
        let table = try cache.store.table("orders")
        func list(_ query: ListQuery, _ common: ListStatement.Common?) throws -> ListStatement {
            try ListStatement(table: table, query: query, context: cache.store.filterContext, common: common)
        }
        let first = try list(query, nil)
        func after(nulls: Int) -> ListQuery {
            var later = query
            let value = nulls > 0 ? .null : "2026-01-01".databaseValue
            let pk = nulls > 1 ? .null : 7.databaseValue
            later.cursor = first.cursor(after: first.order.terms.map { _ in value } + [pk])
            return later
        }
        let common = ListStatement.Common(table)
        // Its order keeps the conditions after a position without nulls.
        _ = try list(after(nulls: 0), common)
        let later = after(nulls: nulls)
        let (shared, alone) = (try list(later, common), try list(later, nil))
        let continued = try ListStatement(first, from: try #require(later.cursor))
        // Shares its statements' texts with the previous one, unless there are nulls.
        let again = try ListStatement(first, from: try #require(later.cursor))
        for other in [shared, continued, again] {
            #expect(other.statements.map(\.sql) == alone.statements.map(\.sql))
            #expect(other.statements.map(\.arguments) == alone.statements.map(\.arguments))
        }
    }

    @Test("a cursor is base64url of its JSON without padding, whatever its length", arguments: 0..<8)
    func cursors(length: Int) throws {
        let mark = ListCursor.mark(of: ["list"])
        let value = String(repeating: "~?\u{ff}", count: length).databaseValue
        let cursor = ListCursor.text([value, 1.5.databaseValue, .null], mark: mark)
        #expect(ListCursor.values(of: cursor, mark: mark) == [value, 1.5.databaseValue, .null])
        let standard = cursor.replacing("-", with: "+").replacing("_", with: "/")
        let padded = standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)
        let json = try #require(Data(base64Encoded: padded))
        #expect(try JSONText([UInt8](json)).elements.count == 4)
        #expect(json.base64EncodedString() == padded)
    }
    @Test("a cursor is also read in the other base64 alphabet and with padding, but with nothing else")
    func alphabets() throws {
        let mark = ListCursor.mark(of: ["list"])
        let values = ["~~?>\u{ff}\u{fb}\u{ef}".databaseValue, (1 << 62).databaseValue]
        let cursor = ListCursor.text(values, mark: mark)
        let standard = cursor.replacing("-", with: "+").replacing("_", with: "/")
        for text in [cursor, standard, cursor + "=", standard + "=="] {
            #expect(ListCursor.values(of: text, mark: mark) == values)
        }
        for text in ["", "=", "A", cursor + " ", "=" + cursor, "é" + cursor, String(cursor.dropLast(2)), cursor + "A"] {
            #expect(ListCursor.values(of: text, mark: mark) == nil)
        }
        #expect(ListCursor.values(of: cursor, mark: ListCursor.mark(of: ["other"])) == nil)
    }
}

extension ListStatement {
    /// All of its statements.
    var statements: [BoundSQL] { (0..<form.count).map(statement) }
}

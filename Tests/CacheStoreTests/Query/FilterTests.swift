import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore

@Suite("Filters")
struct FilterTests {
    @Test(
        "each comparison finds the records that meet it, and its negation those that do not, without nulls",
        arguments: [
            (.test("status", .equal, "ready"), "a c", "b"), (.test("status", .notEqual, "ready"), "b", "a c"),
            (.test("number", .among, "RM-10", "RX-1"), "a c", "b"),
            (.test("number", .notAmong, "RM-10", "RX-1"), "b", "a c"), (.test("total", .less, "150"), "b", "a d"),
            (.test("total", .atMost, "150"), "a b", "d"), (.test("total", .greater, "150"), "d", "a b"),
            (.test("total", .atLeast, "150.0"), "a d", "b"), (.test("paid", .equal, "true"), "a d", "b"),
            (.test("created_at", .less, "2026-01-02"), "a", "b c d"), (.test("total", .null, "true"), "c", "a b d"),
            (.test("total", .null, "false"), "a b d", "c"), (.test("id", .null, "true"), "", "a b c d"),
            (.test("address", .null, "true"), "c d", "a b"), (.test("tags", .null, "true"), "d", "a b c"),
        ] as [(FilterCondition, String, String)])
    func comparisons(_ condition: FilterCondition, _ found: String, _ others: String) async throws {
        let cache = try await FilterShop.cache()
        #expect(try cache.keys("orders", where: condition) == found)
        #expect(try cache.keys("orders", where: .not(condition)) == others)
        #expect(try cache.keys("orders", where: .not(.not(condition))) == found)
    }

    @Test(
        "beginnings and parts of texts ignore the case of A to Z, and nothing in them is a wildcard",
        arguments: [
            ("orders", .test("number", .starts, "rm-1"), "a b", "c"),
            ("orders", .test("number", .starts, "RM-10"), "a", "b c"),
            ("orders", .test("number", .starts, "R"), "a b c", ""), ("orders", .test("id", .starts, "A"), "a", "b c d"),
            ("orders", .test("status", .starts, "re"), "a c", "b"),
            ("orders", .test("notes", .starts, "CRACKED "), "a b", "d"),
            ("orders", .test("notes", .contains, "screen"), "a", "b d"),
            ("orders", .test("notes", .contains, ", r"), "d", "a b"),
            ("orders", .test("client_id", .contains, "C"), "a b c", ""),
            ("clients", .test("notes", .contains, "0%"), "c1", "c3"),
            ("clients", .test("notes", .contains, "a_"), "c3", "c1"),
            ("clients", .test("notes", .contains, #"\"#), "", "c1 c3"),
            ("clients", .test("name", .starts, "ada smi"), "c1", "c2 c3"),
            ("clients", .test("name", .starts, "Smith"), "c3", "c1 c2"),
            ("clients", .test("name", .starts, "Zoë"), "c2", "c1 c3"),
            ("clients", .test("name", .starts, "ZOË"), "", "c1 c2 c3"),
            ("clients", .test("name", .starts, "zoe"), "", "c1 c2 c3"),
            ("clients", .test("name", .starts, "Smith, J"), "c3", "c1 c2"),
            ("clients", .test("name", .starts, "S"), "c3", "c1 c2"),
            ("clients", .test("name", .starts, ","), "", "c1 c2 c3"),
            ("clients", .test("name", .contains, "mith"), "c1 c2 c3", ""),
            ("clients", .test("name", .contains, "ë ann sm"), "c2", "c1 c3"),
            ("clients", .test("name", .contains, "h, J"), "c3", "c1 c2"),
            ("clients", .test("phone", .contains, "7700 900"), "c1 c2", ""),
            ("clients", .test("phone", .contains, "900-1"), "c1", "c2"),
            ("clients", .test("phone", .contains, "9001"), "", "c1 c2"),
            ("clients", .test("phone", .starts, "+44 "), "c1", "c2"),
            ("clients", .test("phone", .starts, "0"), "c2", "c1"),
            ("clients", .test("email", .starts, "zoe@"), "c2", "c1"),
        ] as [(String, FilterCondition, String, String)])
    func texts(_ entity: String, _ condition: FilterCondition, _ found: String, _ others: String) async throws {
        let cache = try await FilterShop.cache()
        #expect(try cache.keys(entity, where: condition) == found)
        #expect(try cache.keys(entity, where: .not(condition)) == others)
        try await cache.store.catchUpSearch()
        #expect(try cache.keys(entity, where: condition) == found)
    }

    @Test(
        "elements of lists and places inside objects are compared as text, number or boolean",
        arguments: [
            (.test("tags", .has, "new"), "a", "b c"), (.test("tags", .has, "5"), "a", "b c"),
            (.test("tags", .has, "true"), "a", "b c"), (.test("tags", .has, "NEW"), "", "a b c"),
            (.test("address.city", .equal, "London"), "a", "b"), (.test("address.zip", .equal, "10115"), "a b", ""),
            (.test("address.zip", .atLeast, "10000"), "a", "b"), (.test("address.zip", .less, "x"), "b", "a"),
            (.test("address.geo.lat", .greater, "51"), "a", ""),
            (.test("address.vip", .among, "false", "true"), "a", ""),
            (.test("address.none", .null, "true"), "a b c d", ""), (.test("address.none", .equal, ""), "", ""),
            (.test("address.city", .null, "false"), "a b", "c d"), (.test("address.tags", .has, "x"), "a", ""),
            (.test("address.city", .starts, "LOND"), "a b", ""), (.test("address.city", .contains, "d%"), "b", "a"),
            (.test("address.geo", .equal, "x"), "", "a"), (.test("address.it's", .equal, "x"), "", ""),
        ] as [(FilterCondition, String, String)])
    func places(_ condition: FilterCondition, _ found: String, _ others: String) async throws {
        let cache = try await FilterShop.cache()
        #expect(try cache.keys("orders", where: condition) == found)
        #expect(try cache.keys("orders", where: .not(condition)) == others)
    }

    @Test(
        "fields of a related record are compared, also places in it; an order without a client meets none",
        arguments: [
            (.test("client.email", .equal, "ada@example.org"), "a", "b"),
            (.test("client.id", .among, "c1", "c3"), "a c", "b"),
            (.test("client.email", .null, "true"), "c", "a b"), (.test("client.name", .starts, "ada"), "a", "b c"),
            (.test("client.home.city", .equal, "Leeds"), "a", ""), (.test("keeper.id", .equal, "c1"), "", ""),
        ] as [(FilterCondition, String, String)])
    func relations(_ condition: FilterCondition, _ found: String, _ others: String) async throws {
        let cache = try await FilterShop.cache()
        #expect(try cache.keys("orders", where: condition) == found)
        #expect(try cache.keys("orders", where: .not(condition)) == others)
    }

    @Test("a condition combines others, and pages and counts follow it")
    func combined() async throws {
        let cache = try await FilterShop.cache()
        let either = FilterCondition.any([
            .test("total", .greater, "150"), .all([.test("status", .equal, "ready"), .test("total", .null, "true")]),
        ])
        #expect(try cache.keys("orders", where: either) == "c d")
        #expect(try cache.keys("orders", where: .not(either)) == "a b")
        var query = ListQuery(entity: "orders", limit: 1, count: true)
        query.filters = [either]
        let first = try cache.store.list(query)
        #expect(first.total == 2)
        query.cursor = first.next
        #expect(try cache.keys(query) == ["c"])
        query.filters = [.not(either)]
        #expect(throws: CacheError.self) { try cache.store.list(query) }
    }

    @Test("a local edit is found at once, also by a search index that is behind")
    func localEdit() async throws {
        let cache = try await FilterShop.cache()
        try await cache.store.catchUpSearch()
        for (key, name) in [("c3", "Adam"), ("c1", "Eve")] {
            try await cache.store.update(
                "clients", key: key, body: JSONText.object(["name": .string(name)]), at: TestCache.now)
        }
        #expect(try cache.keys("clients", where: .test("name", .starts, "ada")) == "c3")
        #expect(try cache.keys("clients", where: .test("name", .starts, "ev")) == "c1")
    }

    @Test(
        "what cannot be compared is refused",
        arguments: [
            .test("nope", .equal, "1"), .test("client.nope", .equal, "1"), .test("nope.email", .equal, "1"),
            .test("status.like", .among, "r"), .test("client.orders.id", .equal, "a"),
            .test("client.passcode", .equal, "1"),
            .test("total", .starts, "1"), .test("paid", .contains, "t"), .test("tags", .equal, "new"),
            .test("address", .equal, "x"), .test("status", .has, "ready"), .test("notes", .starts, ""),
            .test("notes", .contains, String(repeating: "x", count: 201)), .test("total", .among, "1", "x"),
            .test("address.a.b.c.d.e.f", .equal, "x"), .test(#"address.a"b"#, .equal, "x"),
            .test("status", .notAmong, "redy"), .test("client.email", .null, "1"),
        ] as [FilterCondition])
    func refused(_ condition: FilterCondition) async throws {
        let cache = try await FilterShop.cache()
        #expect(throws: CacheError.self) { try cache.keys("orders", where: condition) }
    }

    @Test("a field of many records, and one of a record's records, are refused with what to do")
    func farther() async throws {
        let cache = try await FilterShop.cache()
        let many = #expect(throws: CacheError.self) {
            try cache.keys("clients", where: .test("orders.total", .equal, "1"))
        }
        #expect("\(many.map { "\($0)" } ?? "")".contains("filter the list of orders"))
    }

    @Test("a value that an enum does not have is refused with a suggestion, until the upstream has sent it")
    func enums() async throws {
        let cache = try await FilterShop.cache()
        var query = ListQuery(
            entity: "orders", filters: [.init(field: "status", comparison: .equal, values: ["redy"])])
        let refusal = #expect(throws: CacheError.self) { try cache.keys(query) }
        #expect("\(refusal.map { "\($0)" } ?? "")".contains("did you mean ready?"))
        _ = try await cache.pull("orders", #"[{"id":"e","status":"redy"}]"#)
        #expect(try cache.keys(query) == ["e"])
        let long = String(repeating: "x", count: 150)
        _ = try await cache.pull("orders", #"[{"id":"f","status":"\#(long)"}]"#)
        query.filters = [.init(field: "status", comparison: .equal, values: [long])]
        #expect(try cache.keys(query) == ["f"])
    }
}

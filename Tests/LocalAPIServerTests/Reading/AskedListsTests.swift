import CacheStore
import Testing

@testable import LocalAPIServer

@Suite("Queries of lists that were asked for before")
struct AskedListsTests {
    private let lists = AskedLists()

    /// Whether the query had to be read.
    private func isRead(_ entity: String, _ text: String, cursor: String? = nil) -> Bool {
        var isRead = false
        let asked = lists.list(of: entity, text) {
            isRead = true
            return (ListQuery(entity: entity, cursor: cursor), [])
        }
        #expect(asked.query.entity == entity)
        return isRead
    }

    @Test("the same query of the same entity is read once")
    func again() {
        #expect(isRead("orders", "limit=1"))
        #expect(!isRead("orders", "limit=1"))
        #expect(isRead("orders", "limit=2"))
        #expect(isRead("clients", "limit=1"))
    }

    @Test("a query with a cursor, and a long one, are read each time")
    func unkept() {
        let long = "id=" + String(repeating: "a", count: 1022)
        for _ in 0..<2 {
            #expect(isRead("orders", "cursor=a", cursor: "a"))
            #expect(isRead("orders", long))
        }
    }

    @Test("however many queries there are, a few are kept")
    func bounded() {
        #expect(isRead("orders", "limit=1"))
        for limit in 2...65 { #expect(isRead("orders", "limit=\(limit)")) }
        #expect(isRead("orders", "limit=1"))
        #expect(!isRead("orders", "limit=65"))
    }

    @Test("a query with a mistake is not kept")
    func mistaken() async throws {
        let api = try await TestAPI.filled()
        for _ in 0..<2 { #expect(await api.call("GET", "/v1/orders?nothing=1").status == 400) }
    }
}

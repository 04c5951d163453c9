import CacheStore
import JSONText
import Testing

@testable import LocalAPIServer

@Suite("Queries of lists that were asked for before")
struct AskedListsTests {
    private let lists = AskedLists()
    private let store: CacheStore

    init() throws {
        store = try TestAPI().store
    }

    /// What is read of a query to find its list; nil for what is known.
    private func read(_ entity: String, _ text: String, cursor: String? = nil) throws -> String? {
        var read: String?
        let list = try lists.list(of: entity, text) {
            read = $0
            return try store.prepared(ListQuery(entity: entity, cursor: cursor))
        }
        #expect(list.query.entity == entity)
        return read
    }

    @Test("the same query of the same entity is read once")
    func again() throws {
        #expect(try read("orders", "limit=1") == "limit=1")
        #expect(try read("orders", "limit=1") == nil)
        #expect(try read("orders", "limit=2") == "limit=2")
        #expect(try read("messages", "limit=1") == "limit=1")
    }

    @Test("a long query is read each time")
    func long() throws {
        let long = "id=" + String(repeating: "a", count: 1022)
        for _ in 0..<2 { #expect(try read("orders", long) == long) }
    }

    @Test("however many queries there are, a few are kept")
    func bounded() throws {
        #expect(try read("orders", "limit=1") != nil)
        for limit in 2...65 { #expect(try read("orders", "limit=\(limit)") != nil) }
        #expect(try read("orders", "limit=1") != nil)
        #expect(try read("orders", "limit=65") == nil)
    }

    @Test("the pages of a list are its query with a cursor, which is read with the first of them")
    func pages() async throws {
        let api = try await TestAPI.filled()
        var addresses = ["/v1/orders?limit=1"]
        var seen: [String] = []
        while let address = addresses.popLast() {
            for _ in 0..<2 {
                let page = await api.call("GET", address).json
                seen += page["data"]?.elements.compactMap { $0["id"]?.plain } ?? []
                addresses = page["next"]?.string.map { ["/v1/orders?limit=1&cursor=\($0)"] } ?? []
            }
        }
        let whole = await api.call("GET", "/v1/orders").json["data"]?.elements.compactMap { $0["id"]?.plain } ?? []
        #expect(whole.count > 1)
        #expect(seen == whole.flatMap { [$0, $0] })
    }

    @Test(
        "a cursor that another list has, that comes twice, or that is encoded, is read with its query",
        arguments: [
            "cursor=a", "limit=1&cursor=a", "cursor=a&cursor=b", "c%75rsor=a&cursor=b", "cursor=%61", "cursor=",
            "limit=1&cursor=a&limit=1",
        ])
    func cursors(query: String) async throws {
        let api = try await TestAPI.filled()
        for _ in 0..<2 { #expect(await api.call("GET", "/v1/orders?\(query)").status == 400) }
    }

    @Test("a query with a mistake is not kept")
    func mistaken() async throws {
        let api = try await TestAPI.filled()
        for _ in 0..<2 { #expect(await api.call("GET", "/v1/orders?nothing=1").status == 400) }
    }
}

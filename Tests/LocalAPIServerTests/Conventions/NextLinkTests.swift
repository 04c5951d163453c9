import CacheStore
import Foundation
import JSONText
import TestSupport
import Testing

@Suite("The link to the next page")
struct NextLinkTests {
    private func next(_ answer: TestAPI.Answer) -> String? {
        guard let link = answer.header("Link"), link.hasPrefix("<"), link.hasSuffix(">; rel=\"next\"") else {
            return nil
        }
        return String(link.dropFirst().prefix { $0 != ">" })
    }

    @Test("a list with another page has Link: rel=\"next\", which leads through all pages once")
    func pages() async throws {
        let api = try await TestAPI.filled()
        let records = (1...5).map { #"{"id":"o\#($0)","status":"open"}"# }.joined(separator: ",")
        _ = try await api.store.apply(PulledPage(entity: "orders", records: "[\(records)]"), at: TestAPI.now)
        var seen: [String] = []
        var address: String? = "/v1/orders?status=open,ready&limit=2&sort=id"
        while let path = address {
            let answer = await api.call("GET", path)
            #expect(answer.status == 200, "\(path)")
            seen += answer.json["data"]?.elements.compactMap { $0["id"]?.string } ?? []
            address = next(answer)
            #expect((address == nil) == (answer.json["next"]?.string == nil))
        }
        #expect(seen == ["a", "b", "o1", "o2", "o3", "o4", "o5"])
    }

    @Test("the last page has no link")
    func last() async throws {
        let api = try await TestAPI.filled()
        #expect(await api.call("GET", "/v1/orders").header("Link") == nil)
    }

    @Test("the link keeps the query as it was sent, with one cursor")
    func query() async throws {
        let api = try await TestAPI.filled()
        let first = try #require(next(await api.call("GET", "/v1/orders?limit=1&sort=%2Did")))
        #expect(first.hasPrefix("/v1/orders?limit=1&sort=%2Did&cursor="))
        let records = #"[{"id":"A","status":"open"}]"#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: records), at: TestAPI.now)
        let second = try #require(next(await api.call("GET", first)))
        #expect(second != first && second.components(separatedBy: "cursor=").count == 2)
    }

    @Test("queue, history and conflicts have it too")
    func others() async throws {
        let api = try await TestAPI.filled()
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#)
        _ = await api.call("PATCH", "/v1/orders/b", body: #"{"status":"ready"}"#)
        let queue = await api.call("GET", "/v1/pending?limit=1")
        let link = try #require(next(queue))
        #expect(await api.call("GET", link).json["data"]?.elements.first?["record_id"]?.string == "b")
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"total":1}"#)
        let history = try #require(next(await api.call("GET", "/v1/orders/a/history?limit=1")))
        #expect(await api.call("GET", history).json["data"]?.elements.count ?? 0 >= 1)
    }
}

import CacheStore
import EntitySchema
import JSONText
import Logging
import SocketServer
import SyncEngine
import TestSupport
import Testing

@testable import LocalAPIServer

/// Reads that the server answers before it lets anything else run.
@Suite struct AtOnceTests {
    private static func request(_ method: String, _ target: String, _ more: [String: String] = [:]) -> Request {
        var headers = Headers()
        let all = ["Host": "localhost:7679", "Authorization": "Bearer \(TestAPI.token)"].merging(more) { $1 }
        for (name, value) in all { headers.append(name: name, value: value) }
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        return Request(method: method, path: parts[0], query: parts.count > 1 ? parts[1] : nil, headers: headers)
    }

    /// Nil if the answer comes later.
    private static func answer(
        _ api: TestAPI, _ method: String, _ target: String, _ more: [String: String] = [:]
    ) -> TestAPI.Answer? {
        guard case .now(let response) = api.api.reply(to: request(method, target, more)) else { return nil }
        return TestAPI.Answer(response: response)
    }

    @Test(arguments: ["/v1/orders/a", "/v1/orders?status=ready&limit=50", "/v1/pending/count"])
    func `a read from the cache is answered at once, as it is later`(_ target: String) async throws {
        let api = try await TestAPI.filled()
        let answer = try #require(Self.answer(api, "GET", target))
        let later = await api.call("GET", target)
        #expect(answer.status == 200 && answer.text == later.text && answer.header("ETag") == later.header("ETag"))
    }

    @Test func `an unchanged record is answered at once by its tag`() async throws {
        let api = try await TestAPI.filled()
        let tag = try #require(Self.answer(api, "HEAD", "/v1/orders/a")?.header("ETag"))
        #expect(Self.answer(api, "GET", "/v1/orders/a", ["If-None-Match": tag])?.status == 304)
    }

    @Test func `a caller who polls is told of each change of the record, and of none without one`() async throws {
        let api = try await TestAPI.filled()
        var tag = try #require(Self.answer(api, "GET", "/v1/orders/a")?.header("ETag"))
        for status in ["open", "ready", "open"] {
            let written = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"\#(status)"}"#)
            #expect(written.status < 300)
            let changed = try #require(Self.answer(api, "GET", "/v1/orders/a", ["If-None-Match": tag]))
            #expect(changed.status == 200 && changed.json["status"]?.plain == status)
            tag = try #require(changed.header("ETag"))
            for _ in 1...3 {
                let same = try #require(Self.answer(api, "GET", "/v1/orders/a", ["If-None-Match": tag]))
                #expect(same.status == 304 && same.header("ETag") == tag && same.text.isEmpty)
            }
        }
    }

    @Test func `a caller who polls a list is told of each change of its records, and of none without one`() async throws
    {
        let api = try await TestAPI.filled()
        let list = "/v1/orders?limit=1&sort=id"
        var tag = try #require(Self.answer(api, "HEAD", list)?.header("ETag"))
        for status in ["open", "ready", "open"] {
            #expect(await api.call("PATCH", "/v1/orders/a", body: #"{"status":"\#(status)"}"#).status < 300)
            let changed = try #require(Self.answer(api, "GET", list, ["If-None-Match": tag]))
            #expect(changed.status == 200 && changed.json["data"]?.elements.first?["status"]?.plain == status)
            tag = try #require(changed.header("ETag"))
            for _ in 1...2 {
                let same = try #require(Self.answer(api, "GET", list, ["If-None-Match": tag]))
                #expect(same.status == 304 && same.header("ETag") == tag && same.text.isEmpty)
                #expect(same.header("Link") == changed.header("Link") && same.header("Content-Type") == nil)
                let again = try #require(Self.answer(api, "GET", list))
                #expect(again.status == 200 && again.text == changed.text && again.header("Link") != nil)
            }
        }
    }

    @Test func `pages of one list at other addresses, and more lists than are kept, are each answered as they are`()
        async throws
    {
        let api = try await TestAPI.filled()
        let lists = (1...40).map { "/v1/orders?limit=\($0)" } + ["/v1/orders?limit=1&sort=-id", "/v1/%6Frders?limit=1"]
        for _ in 1...2 {
            for list in lists {
                let answer = try #require(Self.answer(api, "GET", list))
                #expect(answer.text == (await api.call("GET", "\(list)&labels=false")).text, "\(list)")
                #expect(answer.header("Link")?.hasPrefix("<\(list.prefix { $0 != "?" })?") ?? true)
            }
        }
    }

    @Test func `an unknown caller and an unknown address are refused at once`() async throws {
        let api = try await TestAPI.filled()
        #expect(Self.answer(api, "GET", "/v1/orders/a", ["Authorization": "Bearer wrong"])?.status == 401)
        #expect(Self.answer(api, "GET", "/v1/nothing/here/at/all")?.status == 404)
    }

    @Test func `a read shows a write that was acknowledged just before`() async throws {
        let api = try await TestAPI.filled()
        for status in ["open", "ready", "open"] {
            let written = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"\#(status)"}"#)
            #expect(written.status < 300)
            #expect(try #require(Self.answer(api, "GET", "/v1/orders/a")).json["status"]?.plain == status)
            let list = try #require(Self.answer(api, "GET", "/v1/orders?status=\(status)"))
            #expect(list.json["data"]?.elements.contains { $0["id"]?.plain == "a" } == true)
        }
    }

    @Test(arguments: ["/v1/orders/missing", "/v1/orders/a?refresh=true", "/v1/messages?q=word"])
    func `a read that may have to wait is answered later`(_ target: String) async throws {
        #expect(Self.answer(try await TestAPI.filled(), "GET", target) == nil)
    }

    @Test(arguments: ["/v1/orders?total.gte=9999", "/v1/orders?sort=total&limit=1&fields=total"])
    func `a list that takes long keeps no other caller waiting`(_ target: String) async throws {
        let api = try await TestAPI.filled()
        let records = (0..<10_000).map { #"{"id":"k\#($0)","total":\#($0)}"# }.joined(separator: ",")
        _ = try await api.store.apply(PulledPage(entity: "orders", records: "[\(records)]"), at: TestAPI.now)
        #expect(Self.answer(api, "GET", target) == nil)
        let answer = await api.call("GET", target)
        #expect(answer.status == 200 && answer.json["data"]?.elements.count == 1)
        #expect(answer.header("Server-Timing")?.hasPrefix("scan;desc=\"no index on total\"") == true)
    }

    @Test func `a condition that is not met is refused at once, as it is later`() async throws {
        let api = try await TestAPI.filled()
        #expect(Self.answer(api, "GET", "/v1/orders/a", ["If-Match": "\"0-0\""])?.status == 412)
        #expect(await api.call("GET", "/v1/orders/a", headers: ["If-Match": "\"0-0\""]).status == 412)
    }

    @Test func `a list that cannot be read is not read again`() async throws {
        let schema = try EntitySchema(yaml: TestAPI.shop, file: "shop.yaml")
        let store = try CacheStore.temporary(schema)
        // A list begins by asking what time it is.
        let reads = Counter()
        let api = LocalAPIServer(
            store: store, engine: try TestAPI(store: store).api.handlers.engine,
            callers: CallerGuard(token: TestAPI.token, owners: [1000], group: nil),
            about: DaemonDescription(
                version: "1", startedAt: TestAPI.now, instance: "till-2", site: "north", schemaHash: "0a1b"),
            runtime: APIRuntime(
                now: {
                    reads.next()
                    return TestAPI.now
                }, log: Logger(label: "test")))
        #expect(await api.respond(to: Self.request("GET", "/v1/orders?limit=1")).status == 200)
        let before = reads.count
        try store.close()
        #expect(await api.respond(to: Self.request("GET", "/v1/orders")).status == 503)
        #expect(reads.count == before + 1)
    }
}

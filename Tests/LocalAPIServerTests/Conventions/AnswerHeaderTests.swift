import SocketServer
import TestSupport
import Testing

@testable import CacheStore
@testable import LocalAPIServer

@Suite("Header fields of every answer")
struct AnswerHeaderTests {
    @Test("every answer has Cache-Control, Vary and X-Request-Id, each once")
    func always() async throws {
        let api = try TestAPI(deletes: true)
        for route in RouteTable(api.api.handlers.schema).routes {
            let path = route.path.replacing("{id}", with: "1").replacing("{entity}", with: "orders")
            for method in [route.method, "OPTIONS", "TRACE"] {
                let answer = await api.call(method, path, headers: ["Content-Type": "application/json"])
                let names = answer.response.allHeaders.map(\.name)
                for name in ["Cache-Control", "Vary", "X-Request-Id"] {
                    #expect(names.filter { $0 == name }.count == 1, "\(method) \(path): \(name)")
                }
            }
        }
    }

    @Test("where records have sealed values, a browser is told to keep no answer on its disk")
    func sealed() async throws {
        let api = try TestAPI(field: "address: { type: string, sealed: true }")
        let records = #"[{"id":"a","address":"1 High Street"}]"#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: records), at: TestAPI.now)
        for path in ["/v1/orders", "/v1/orders/a", "/v1/messages"] {
            let answer = await api.call("GET", path)
            #expect(answer.header("Cache-Control") == "no-store" && answer.header("ETag") != nil, "\(path)")
        }
        #expect(await api.call("GET", "/v1/orders/a").text.contains("1 High Street"))
        #expect(await api.call("GET", "/page/main.js").header("Cache-Control") == "private, no-cache")
    }

    @Test("OPTIONS names Accept-Patch where there is a PATCH, and Accept-Post where a POST takes a body")
    func options() async throws {
        let api = try TestAPI()
        let records = await api.call("OPTIONS", "/v1/orders")
        #expect(records.header("Accept-Post") == "application/json" && records.header("Accept-Patch") == nil)
        let one = await api.call("OPTIONS", "/v1/orders/a")
        #expect(one.header("Accept-Patch") == "application/merge-patch+json, application/json")
        #expect(one.header("Accept-Post") == nil)
        #expect(await api.call("OPTIONS", "/v1/sync").header("Accept-Post") == "application/json")
        #expect(await api.call("OPTIONS", "/v1/pending/1/retry").header("Accept-Post") == nil)
        #expect(await api.call("OPTIONS", "/v1/pending/1").header("Accept-Patch") == "application/json")
    }

    @Test("OPTIONS never answers a browser's preflight")
    func preflight() async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call(
            "OPTIONS", "/v1/orders",
            headers: ["Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"])
        #expect(answer.status == 204)
        #expect(!answer.response.allHeaders.contains { $0.name.lowercased().hasPrefix("access-control-") })
        let foreign = await api.call("OPTIONS", "/v1/orders", headers: ["Origin": "https://example.org"])
        #expect(foreign.status == 403)
    }
}

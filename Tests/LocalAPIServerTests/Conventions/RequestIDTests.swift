import JSONText
import LocalAPIServer
import Logging
import SocketServer
import TestSupport
import Testing

@Suite("The id of a request")
struct RequestIDTests {
    @Test("a caller's X-Request-Id is taken when it is plain and has at most 128 characters")
    func taken() async throws {
        let api = try await TestAPI.filled()
        for id in ["a", "7c9e6679-7425-40de-944b-e07fc1f90ae7", "a/b:c+d=e@f_g.h", String(repeating: "x", count: 128)] {
            #expect(await api.call("GET", "/v1/orders/a", headers: ["X-Request-Id": id]).header("X-Request-Id") == id)
        }
    }

    @Test(
        "one that is not plain is replaced",
        arguments: ["", "a b", "a\tb", "a\"b", "a,b", "é", "a\\b", "<a>", String(repeating: "x", count: 129)])
    func replaced(_ id: String) async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("GET", "/v1/orders/a", headers: ["X-Request-Id": id])
        let made = try #require(answer.header("X-Request-Id"))
        #expect(made != id && made.wholeMatch(of: /[0-9a-f]{6}-[0-9a-f]+/) != nil)
    }

    @Test("without one each request gets an id of its own")
    func made() async throws {
        let api = try await TestAPI.filled()
        var ids: Set<String> = []
        for _ in 1...40 { ids.insert(try #require(await api.call("GET", "/healthz").header("X-Request-Id"))) }
        #expect(ids.count == 40)
    }

    @Test("a problem document has it as request_id", arguments: ["/v1/orders/zz", "/v1/nothing", "/v1/orders?limit=x"])
    func problem(_ path: String) async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("GET", path, headers: ["X-Request-Id": "mine-1"])
        #expect(answer.status >= 400)
        #expect(answer.json["request_id"]?.string == "mine-1")
        #expect(answer.header("X-Request-Id") == "mine-1")
    }

    @Test("a caller who is refused before the body is read gets one too")
    func refused() async throws {
        let api = try await TestAPI.filled()
        var headers = Headers()
        headers.append(name: "Host", value: "elsewhere.example")
        headers.append(name: "X-Request-Id", value: "mine-2")
        let refusal = try #require(
            api.api.refusal(ofHead: Request(method: "POST", path: "/v1/orders", headers: headers)))
        #expect(TestAPI.Answer(response: refusal).json["request_id"]?.string == "mine-2")
    }

    @Test("the log lines of a request have it")
    func logged() async throws {
        let log = LogLines(from: .trace)
        let api = try TestAPI(log: log.logger)
        _ = await api.call(
            "GET", "/v1/orders", headers: ["Authorization": nil, "X-Request-Id": "mine-3"])
        #expect(log.all.map { $0.metadata["request_id"] } == ["mine-3"])
    }
}

import JSONText
import SocketServer
import Testing
import Upstream

@testable import LocalAPIServer

@Suite("Figures over HTTP")
struct FiguresOverHTTPTests {
    /// Serves on a real socket while `body` calls it with the token.
    private func serve(
        _ api: LocalAPIServer,
        _ body: @Sendable (_ get: @Sendable (String) async throws -> HTTPResponse) async throws -> Void
    ) async throws {
        let server = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: 0)]) { await api.respond(to: $0) }
        let address = try #require(try server.bind().first)
        let transport = try CurlTransport(userAgent: "test")
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run() }
            try await body { path in
                try await transport.send(
                    HTTPRequest(
                        method: "GET", url: "\(address)\(path)",
                        headers: [HTTPHeader("Authorization", "Bearer \(TestAPI.token)")], body: nil))
            }
            group.cancelAll()
        }
    }

    @Test("metrics are in Prometheus's format and count earlier calls")
    func metrics() async throws {
        try await serve(try await TestAPI.filled().api) { get in
            _ = try await get("/v1/orders/a")
            let response = try await get("/metrics")
            #expect(response.status == 200)
            let parsed = ExpositionParser(String(decoding: response.body, as: UTF8.self))
            #expect(parsed.complaints.isEmpty, "\(parsed.complaints)")
            let labels = ["route": "/v1/{entity}/{id}", "method": "GET", "status": "2xx"]
            #expect(parsed.value("repairminder_sync_api_request_duration_seconds_count", labels) == 1)
        }
    }

    @Test("the dashboard is JSON, a refusal a problem document")
    func dashboard() async throws {
        try await serve(try await DashboardTests.smallAPI()) { get in
            let answer = try JSONText(try await get("/v1/dashboard?period=this_week&scope=user&user=u").body)
            #expect(answer.at(path: "revenue.current.total")?.text == "129.90")
            #expect(answer["user"]?.string == "u")
            #expect(try await get("/v1/dashboard?scope=user").status == 422)
        }
    }
}

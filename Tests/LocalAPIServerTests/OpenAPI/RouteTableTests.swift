import CacheStore
import EntitySchema
import JSONText
import LocalAPI
import SocketServer
import Testing

@testable import LocalAPIServer

@Suite("Route table")
struct RouteTableTests {
    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

    private let api: TestAPI
    private let table: RouteTable

    init() throws {
        api = try TestAPI(deletes: true)
        table = RouteTable(api.api.handlers.schema)
    }

    private func address(_ route: Route) -> String { route.path.replacing("{id}", with: "1") }

    /// How often requests to a route were counted.
    private func count(_ label: String, _ method: String, in metrics: ExpositionParser) -> Double {
        metrics.samples("repairminder_sync_api_request_duration_seconds_count")
            .filter { $0.labels["route"] == label && $0.labels["method"] == method }
            .reduce(0) { $0 + $1.value }
    }

    @Test("every route is answered by its handler")
    func answered() async throws {
        for route in table.routes {
            let body = route.method == "GET" || route.method == "DELETE" ? "" : "{}"
            let answer = await api.call(
                route.method, address(route), body: body, headers: ["Content-Type": "application/json"])
            let detail = answer.json["detail"]?.string ?? ""
            #expect(answer.status != 405 && !detail.hasPrefix("there is nothing"), "\(route.method) \(route.path)")
        }
    }

    @Test("every other method of a path gets 405 with the right Allow; OPTIONS says the same")
    func methods() async throws {
        for (path, routes) in Dictionary(grouping: table.routes, by: address) {
            let allowed = routes.flatMap { $0.method == "GET" ? ["GET", "HEAD"] : [$0.method] }
            let methods = (allowed + ["OPTIONS"]).joined(separator: ", ")
            let options = await api.call("OPTIONS", path)
            #expect(options.status == 204 && options.header("Allow") == methods, "\(path)")
            #expect((options.header("Accept-Patch") != nil) == allowed.contains("PATCH"), "\(path)")
            for method in Self.methods where !allowed.contains(method) {
                let answer = await api.call(
                    method, path, body: method == "HEAD" ? "" : "{}", headers: ["Content-Type": "application/json"])
                #expect(answer.status == 405, "\(method) \(path)")
                #expect(answer.header("Allow") == methods, "\(method) \(path)")
            }
        }
    }

    @Test("every route is in the OpenAPI document, and the document has no other call")
    func documented() async throws {
        let document = await api.call("GET", "/openapi.json").json
        let described = (document["paths"]?.members ?? []).flatMap { path, calls in
            calls.members.map { "\($0.key.uppercased()) \(path)" }
        }
        let routes = table.routes.filter(\.isDocumented)
        #expect(Set(described) == Set(routes.map { "\($0.method) \($0.path)" }))
        #expect(described.count == routes.count)
        // This schema declares no dashboard. The page's files are no calls of the API.
        #expect(Set(table.routes.filter { !$0.isDocumented }.map(\.template)) == [.dashboard, .pageFile])
    }

    @Test("every call declares what it answers to a condition that is not met")
    func conditions() async throws {
        let paths = await api.call("GET", "/openapi.json").json["paths"]
        for route in table.routes where route.isDocumented && route.streamLimit == nil {
            let body = route.method == "GET" || route.method == "DELETE" ? "" : "{}"
            let answer = await api.call(
                route.method, address(route), body: body, headers: ["If-Match": "\"0123456789abcdef-0123456789abcdef\""]
            )
            let declared = paths?[route.path]?[route.method.lowercased()]?["responses"]?.members.map(\.key) ?? []
            #expect(answer.status >= 400 && declared.contains(String(answer.status)), "\(route.method) \(route.path)")
        }
    }

    @Test("every route is counted under its template")
    func labels() async throws {
        for route in table.routes {
            let before = try await metrics()
            _ = await api.call("OPTIONS", address(route), body: "{}")
            let after = try await metrics()
            let label = route.template.text
            #expect(count(label, "OPTIONS", in: after) == count(label, "OPTIONS", in: before) + 1, "\(route.path)")
        }
    }

    private func metrics() async throws -> ExpositionParser {
        ExpositionParser(await api.call("GET", "/metrics").text)
    }

    @Test("a path that the client fills in matches the route of its template")
    func clientPaths() throws {
        let router = api.api.router
        for (path, template) in [
            (LocalAPIPaths.status, PathTemplate.status), (LocalAPIPaths.records(of: "orders"), .records),
            (LocalAPIPaths.record(of: "orders", id: "1"), .record), (LocalAPIPaths.pendingCount, .pendingCount),
            (LocalAPIPaths.history(of: "orders", id: "1"), .history),
            (LocalAPIPaths.pendingChange("1"), .pendingChange),
            (LocalAPIPaths.retryPending("1"), .retryPending), (LocalAPIPaths.undoConflict("1"), .undoConflict),
            (LocalAPIPaths.snoozeReminder("1"), .snoozeReminder), (LocalAPIPaths.retryAllPending, .retryAllPending),
        ] {
            let match = try #require(router.match(path.split(separator: "/").map(String.init)), "\(path)")
            #expect(match.place.label == template.text)
            #expect(match.id == (template.text.contains("{id}") ? "1" : ""))
        }
    }

    @Test("the name of an entity may stand in a path as an id does")
    func entityInPath() throws {
        let match = try #require(api.api.router.match(["v1", "schema", "orders"]))
        #expect(match.place.label == PathTemplate.entitySchema.text)
        #expect(match.id == "orders")
    }

    @Test("only /healthz, the page's files and signing in to it are open to unknown callers")
    func access() async throws {
        for route in table.routes {
            let answer = await api.call(
                route.method, address(route), body: "{}", headers: ["Authorization": nil])
            #expect((answer.status == 401) == (route.access == .knownCallers), "\(route.method) \(route.path)")
        }
        let open = table.routes.filter { $0.access == .anyone }
        #expect(Set(open.map(\.template)) == [.alive, .pageFile, .session])
    }
}

import JSONText
import Testing

@testable import LocalAPIServer

@Suite("The index")
struct IndexTests {
    @Test("GET /v1 lists the entities with their addresses, the daemon's calls, the description and the manual")
    func index() async throws {
        let api = try TestAPI()
        let answer = await api.call("GET", "/v1")
        #expect(answer.status == 200)
        #expect(answer.json["entities"]?.elements.map { $0["href"]?.string } == ["/v1/orders", "/v1/messages"])
        for entity in answer.json["entities"]?.elements ?? [] {
            for member in ["href", "schema"] {
                #expect(await api.call("GET", entity[member]?.plain ?? "").status == 200)
            }
        }
        #expect(await api.call("GET", answer.json["description"]?.plain ?? "").status == 200)
        #expect(answer.json["docs"]?.string?.hasSuffix("/api.md") == true)
        let calls = (answer.json["calls"]?.elements ?? []).map {
            "\($0["method"]?.plain ?? "") \($0["path"]?.plain ?? "")"
        }
        #expect(calls.contains("GET /v1/status") && calls.contains("PATCH /v1/pending/{id}"))
        #expect(!calls.contains { $0.contains("/v1/orders") })
        #expect(Set(calls).count == calls.count)
    }

    @Test("it has a tag, and links to the description and the manual")
    func tag() async throws {
        let api = try TestAPI()
        let answer = await api.call("GET", "/v1")
        let tag = try #require(answer.header("ETag"))
        #expect(answer.header("Link")?.contains("</openapi.json>; rel=\"service-desc\"") == true)
        #expect(await api.call("GET", "/v1", headers: ["If-None-Match": tag]).status == 304)
    }

    @Test("an address that is nothing says to start there")
    func lost() async throws {
        let api = try TestAPI()
        #expect(await api.call("GET", "/nothing").json["detail"]?.string?.contains("GET /v1") == true)
    }

    @Test("the name of each call of the daemon's own begins with _ or cannot be an entity's")
    func names() async throws {
        let api = try TestAPI()
        for route in RouteTable(api.api.handlers.schema).routes where route.entity == nil {
            guard route.segments.count > 1, route.segments[0] == "v1" else { continue }
            let name = route.segments[1]
            guard !["orders", "messages"].contains(name), !name.hasPrefix("_") else { continue }
            let error = #expect(throws: (any Error).self, "\(name)") { try TestAPI(yaml: Self.schema(name)) }
            #expect("\(error.map { "\($0)" } ?? "")".contains("word of the local API"), "\(name)")
        }
    }

    @Test("no entity's name can begin with _, so no call that does can hide one")
    func underscores() {
        #expect(throws: (any Error).self) { try TestAPI(yaml: Self.schema("_things")) }
    }

    private static func schema(_ entity: String) -> String {
        """
        schema: shop
        upstream: { base_url: http://localhost, pagination: { style: page } }
        entities:
          \(entity):
            fields: { id: { type: string } }
            pull: { path: /things }
        """
    }
}

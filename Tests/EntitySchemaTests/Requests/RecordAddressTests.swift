import JSONText
import Testing

@testable import EntitySchema

@Suite("The key in an address of a record")
struct RecordAddressTests {
    /// The key of an item at this address; `pull` is the rest of the entity's `pull`, or nil for records that are served
    /// with their order.
    private func key(at location: String, _ pull: String? = "path: /api/items") throws -> String? {
        let own = pull.map { "pull: { \($0) }" } ?? ""
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: http://localhost }
                entities:
                  orders:
                    fields: { id: { type: string } }
                    pull: { path: /orders, detail: { path: "/orders/{id}/items", into: items, when_changed: any } }
                  items:
                    fields: { id: { type: string }, order_id: { type: reference, to: orders, required: true } }
                    \(own)
                    push: { create: { call: "POST /orders/{order_id}/items" } }
                """, file: "s.yaml")
        return try #require(schema["items"]).key(at: location)
    }

    @Test(
        "is found whatever the host, the base path, the version and the ending",
        arguments: [
            "/api/items/17", "/api/items/17/", "items/17", "./items/17", "../items/17", "/v2/items/17",
            "/api/v1.1/items/17", "/shop/api/items/17", "https://other.example/api/items/17.json", "/API/Items/17",
            "//other.example/api/items/17?expand=all#top", "/api/items/17?next=https://x.example/api/jobs/2",
        ])
    func tolerant(_ location: String) throws {
        #expect(try key(at: location) == "17")
    }

    @Test(
        "is not taken from an address of something else",
        arguments: [
            "/api/jobs/2", "https://x.example/api/jobs/2", "/jobs/2", "2", "/2", "/api/items", "/api/items/2/job",
            "/api/items/jobs/2", "/queue/items/2", "https://x.example", "https://x.example/2", "", "?id=2",
        ])
    func otherKind(_ location: String) throws {
        #expect(try key(at: location) == nil)
    }

    @Test(
        "is found where the path of the schema has it",
        arguments: [
            ("/x/notes/17.json/full", #"path: /notes, record: { path: "/notes/{id}.json/full" }"#, "17"),
            ("/x/notes/17/full", #"path: /notes, record: { path: "/notes/{id}.json/full" }"#, "17"),
            ("/x/notes/17.json", #"path: /notes, record: { path: "/notes/{id}.json/full" }"#, nil),
            ("http://x/odata/Notes(17)", #"path: /odata/Notes, record: { path: "/odata/Notes({id})" }"#, "17"),
            ("http://x/odata/Jobs(17)", #"path: /odata/Notes, record: { path: "/odata/Notes({id})" }"#, nil),
            ("/notes?id=eq.17", #"path: /notes, record: { path: "/notes?id=eq.{id}" }"#, "17"),
            ("/jobs?id=eq.17", #"path: /notes, record: { path: "/notes?id=eq.{id}" }"#, nil),
            ("/notes/_doc/17", #"path: /notes, record: { path: "/notes/_doc/{id}" }"#, "17"),
            ("/jobs/_doc/17", #"path: /notes, record: { path: "/notes/_doc/{id}" }"#, nil),
            ("/orders/9/items/a%20b", #"path: /items, record: { path: "/orders/{order_id}/items/{id}" }"#, "a b"),
            ("/carts/9/items/17", #"path: /items, record: { path: "/orders/{order_id}/items/{id}" }"#, nil),
            ("/items/17", "path: /items, record: none", "17"),
            ("/jobs/17", "path: /items, record: none", nil),
        ])
    func templates(_ location: String, _ pull: String, _ key: String?) throws {
        #expect(try self.key(at: location, pull) == key)
    }

    @Test("of a record that is served with its parent is found below what creates it")
    func ofChild() throws {
        #expect(try key(at: "/orders/9/items/17", nil) == "17")
        #expect(try key(at: "/orders/9/jobs/17", nil) == nil)
    }

    @Test(
        "a name whose slashes stay is several segments of a path, and never leads elsewhere",
        arguments: [
            ("people/c 1", "/v1/people/c%201:update"), ("c1", "/v1/c1:update"), ("people/../c1", nil), ("/c1", nil),
            ("people//c1", nil), ("people/", nil), ("people/.", nil), ("people/%2e%2e", "/v1/people/%252e%252e:update"),
        ] as [(String, String?)])
    func path(_ key: String, _ path: String?) throws {
        let fields = "{ id: { type: string, wire: path }, other: { type: reference, to: people } }"
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: http://localhost }
                entities: { people: { fields: \(fields), pull: { path: /people } } }
                """, file: "s.yaml")
        let people = try #require(schema["people"])
        let record = JSONText.object(["id": .string(key), "other": .string(key)])
        #expect(people.path(try #require(Template("/v1/{id}:update")), of: record) == path)
        let escaped = key.contains("..") ? nil : "/v1/\(Entity.percentEncoded(key))"
        #expect(people.path(try #require(Template("/v1/{other}")), of: record) == escaped)
    }
}

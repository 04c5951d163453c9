import JSONText
import ReferenceUpstream
import TestSupport
import Testing
import Upstream

@testable import EntitySchema

@Suite("A change based on a version")
struct VersionContractTests {
    private static let versions = [
        "{ etag: true }", "{ field: rev, header: X-Revision }",
        #"{ field: meta.version, header: If-Match, value: 'W/"{meta.version}"' }"#,
    ]

    private func with(
        _ way: UpstreamFixture, _ version: String,
        _ body: (any Upstream, ReferenceUpstream, Entity) async throws -> Void
    ) async throws {
        let schema = try EntitySchema(
            yaml: """
                schema: shop
                upstream: { base_url: "http://localhost", records: data, version: \(version), pagination: { style: single } }
                entities:
                  orders:
                    fields: { id: { type: string }, rev: { type: integer }, meta: { type: object }, note: { type: string } }
                    pull: { path: /orders }
                    push: { update: { call: "PATCH /orders/{id}" }, delete: { call: "DELETE /orders/{id}" } }
                """, file: "shop.yaml")
        let orders = try #require(schema["orders"])
        let records = [JSONText.object(["id": "1", "rev": 4, "meta": .object(["version": "4"]), "note": "a"])]
        try await way.with(schema, records: ["orders": records]) { try await body($0, $1, orders) }
    }

    private func patch(_ version: String?) -> PushRequest {
        PushRequest(
            method: "PATCH", path: "/orders/1",
            body: .object(["note": "mine", "rev": 5, "meta": .object(["version": "5"])]),
            record: Place(paths: ["data"]), version: version)
    }

    @Test("is applied, and returns the next version", arguments: UpstreamFixture.allCases, versions)
    func made(_ way: UpstreamFixture, _ version: String) async throws {
        try await with(way, version) { upstream, reference, orders in
            let found = try await upstream.record(of: orders, known: .object(["id": "1"]))
            let old = try #require(found?.version)
            let answer = try await upstream.push(patch(old), idempotencyKey: "k")
            let fresh = try #require(answer.record?.version)
            #expect(fresh != old)
            #expect(reference.record("orders", "1")?["note"] == "mine")
            let again = try await upstream.record(of: orders, known: .object(["id": "1"]))
            #expect(again?.version == fresh)
        }
    }

    @Test("fails for good if no header can carry the version, and the upstream does not count as offline")
    func unsendable() async throws {
        try await with(.sockets, "{ field: rev, header: X-Revision }") { upstream, reference, _ in
            let error = await #expect(throws: UpstreamError.self) {
                try await upstream.push(patch("1\r\nX-Evil: 1"), idempotencyKey: "k")
            }
            #expect(error?.wordless == .refused(status: nil, ""))
            #expect(error?.message.contains("its header X-Revision contains a line break") == true)
            #expect(reference.log.isEmpty)
        }
    }

    @Test("is refused as changed after another change", arguments: UpstreamFixture.allCases, versions)
    func changed(_ way: UpstreamFixture, _ version: String) async throws {
        try await with(way, version) { upstream, reference, orders in
            let found = try await upstream.record(of: orders, known: .object(["id": "1"]))
            try reference.update(
                "orders", "1", with: .object(["note": "theirs", "rev": 9, "meta": .object(["version": "9"])]))
            for request in [
                patch(found?.version),
                PushRequest(method: "DELETE", path: "/orders/1", body: nil, version: found?.version),
            ] {
                let error = await #expect(throws: UpstreamError.self) {
                    try await upstream.push(request, idempotencyKey: "k")
                }
                #expect(error?.wordless == .changed(status: 412, ""))
            }
            #expect(reference.record("orders", "1")?["note"] == "theirs")
        }
    }

    @Test("is applied without a version when none is known", arguments: UpstreamFixture.allCases, versions)
    func unknown(_ way: UpstreamFixture, _ version: String) async throws {
        try await with(way, version) { upstream, reference, _ in
            _ = try await upstream.push(patch(nil), idempotencyKey: "k")
            #expect(reference.record("orders", "1")?["note"] == "mine")
        }
    }

    @Test("is the record's own: a server that compresses answers changes their tags", arguments: versions)
    func compressed(_ version: String) async throws {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "https://shop.example", version: \(version) }
                entities:
                  orders: { fields: { id: { type: string }, rev: { type: integer } }, pull: { path: /orders } }
                """, file: "s.yaml")
        let transport = ScriptedTransport { request in
            let isPlain = request.header("Accept-Encoding") == "identity"
            return HTTPResponse.json(200, #"{"id":"1"}"#, [HTTPHeader("ETag", isPlain ? #""1""# : #""1-gzip""#)])
        }
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport, now: { UpstreamFixture.now })
        let orders = try #require(schema["orders"])
        let found = try await upstream.record(of: orders, known: .object(["id": "1"]))
        let answer = try await upstream.push(
            PushRequest(method: "PATCH", path: "/orders/1", body: .object(["a": 1])), idempotencyKey: "k")
        _ = try? await upstream.page(PageRequest(path: "/orders", list: #require(orders.pull).list))
        let hasTags = version.contains("etag")
        #expect(found?.version == (hasTags ? #""1""# : nil) && answer.record?.version == found?.version)
        #expect(transport.requests.map { $0.header("Accept-Encoding") != nil } == [hasTags, hasTags, false])
    }

    @Test("ignores a weak tag, because it would never match", arguments: ["W/\"1\"", "\"1\""])
    func weak(_ tag: String) async throws {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "https://shop.example", version: { etag: true } }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "s.yaml")
        let transport = ScriptedTransport { _ in HTTPResponse.json(200, #"{"id":"1"}"#, [HTTPHeader("ETag", tag)]) }
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport, now: { UpstreamFixture.now })
        let orders = try #require(schema["orders"])
        let found = try await upstream.record(of: orders, known: .object(["id": "1"]))
        #expect(found?.version == (tag.hasPrefix("W/") ? nil : tag))
        let sent = try await upstream.push(
            PushRequest(method: "PATCH", path: "/orders/1", body: .object(["a": 1]), version: found?.version),
            idempotencyKey: "k")
        #expect(sent.record?.version == found?.version)
        #expect(transport.requests.last?.header("If-Match") == found?.version)
    }
}

import JSONText
import ReferenceUpstream
import TestSupport
import Testing
import Upstream

@testable import EntitySchema

/// Drives the examples of docs/schema/batches-and-signals.md against the reference upstream, which serves each of them.
@Suite("The manual's examples of batches", .serialized)
struct BatchContractTests {
    /// The YAML blocks of the section "Batches".
    private static func examples() throws -> [String] {
        let manual = try ProjectFiles.text("docs/schema/batches-and-signals.md")
        let section = try #require(manual.components(between: "## Batches\n", and: "\n## "))
        return section.split(separator: "```yaml\n").dropFirst().compactMap { block in
            block.firstRange(of: "\n```").map { String(block[..<$0.lowerBound]) }
        }
    }

    /// The shop with one of the examples in its place.
    private static func schema(_ example: String) throws -> EntitySchema {
        let lines = example.split(separator: "\n", omittingEmptySubsequences: false)
        let isRoute = example.hasPrefix("create:")
        let batch = (example.hasPrefix("upstream:") ? Array(lines.dropFirst()) : lines.map { "  " + $0 })
            .joined(separator: "\n")
        return try EntitySchema(
            yaml: """
                schema: shop
                upstream:
                  base_url: http://localhost
                  error_message: message
                \(isRoute ? "" : batch)
                entities:
                  orders:
                    fields: { id: { type: string }, notes: { type: string } }
                    pull: { path: /api/orders }
                    push:
                      \(isRoute ? example : "create: { call: POST /api/orders }")
                      update: { call: "PATCH /api/orders/{id}", fields: [notes] }
                      delete: { call: "DELETE /api/orders/{id}" }
                """, file: "shop.yaml")
    }

    private static func batch(_ schema: EntitySchema, _ changes: [(Operation, JSONText)]) throws -> BatchRequest {
        let entity = try #require(schema["orders"])
        var plan: BatchPlan?
        var elements: [BatchRequest.Element] = []
        for (operation, record) in changes {
            let own = try #require(entity.batchPlan(for: operation, record: record, fields: ["notes"]))
            let body = operation == .update ? record.without("id") : record
            let request = try #require(entity.request(for: operation, record: record, body: body))
            elements.append(entity.element(request, of: record, idempotencyKey: "k\(elements.count)", in: own))
            plan = plan ?? own
        }
        return BatchRequest(plan: try #require(plan), elements: elements)
    }

    private static let records: [String: [JSONText]] = [
        "orders": [.object(["id": "a", "notes": "n"]), .object(["id": "b", "notes": "n"])]
    ]

    @Test("each is sent and understood", arguments: UpstreamFixture.allCases)
    func examples(_ fixture: UpstreamFixture) async throws {
        let examples = try Self.examples()
        #expect(examples.count == 4)
        for example in examples {
            let schema = try Self.schema(example)
            var changes: [(Operation, JSONText)] = [
                (.create, .object(["id": "c", "notes": "new"])), (.create, .object(["id": "d", "notes": "new"])),
            ]
            if !example.hasPrefix("create:") {
                changes += [(.update, .object(["id": "a", "notes": "edited"])), (.delete, .object(["id": "b"]))]
            }
            let batch = try Self.batch(schema, changes)
            try await fixture.with(schema, records: Self.records) { upstream, reference in
                let results = try await upstream.push(batch)
                #expect(results.count == changes.count, "\(example)")
                let keys = results.map { try? $0.get().record?.record["id"]?.plain }
                #expect(keys.prefix(2) == ["c", "d"], "\(example): \(results)")
                for result in results { #expect(throws: Never.self) { try result.get() } }
                let notes = reference.records(of: "orders").map {
                    "\($0["id"]?.plain ?? "") \($0["notes"]?.plain ?? "")"
                }
                #expect(
                    notes == (changes.count == 4 ? ["a edited", "c new", "d new"] : ["a n", "b n", "c new", "d new"]))
                #expect(reference.log.count == 1)
            }
        }
    }

    @Test("a refused change refuses an atomic batch, and no other", arguments: UpstreamFixture.allCases)
    func refused(_ fixture: UpstreamFixture) async throws {
        for example in try Self.examples() where !example.hasPrefix("create:") {
            let schema = try Self.schema(example)
            let isAtomic = schema.upstream.batch?.isAtomic == true
            let batch = try Self.batch(
                schema,
                [
                    (.update, .object(["id": "a", "notes": "edited"])),
                    (.update, .object(["id": "z", "notes": "edited"])),
                ])
            try await fixture.with(schema, records: Self.records) { upstream, reference in
                do throws(UpstreamError) {
                    let results = try await upstream.push(batch)
                    #expect(!isAtomic)
                    #expect(throws: Never.self) { try results[0].get() }
                    #expect(throws: UpstreamError.self) { try results[1].get() }
                } catch {
                    #expect(isAtomic, "\(error)")
                    guard case .refused(400, _) = error else {
                        Issue.record("\(error)")
                        return
                    }
                }
                #expect(reference.record("orders", "a")?["notes"] == (isAtomic ? "n" : "edited"))
            }
        }
    }
}

extension String {
    fileprivate func components(between start: String, and end: String) -> String? {
        guard let first = firstRange(of: start) else { return nil }
        let rest = self[first.upperBound...]
        return String(rest[..<(rest.firstRange(of: end)?.lowerBound ?? rest.endIndex)])
    }
}

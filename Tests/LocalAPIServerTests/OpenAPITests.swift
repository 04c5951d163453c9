import EntitySchema
import Foundation
import JSONText
import Testing

@testable import LocalAPIServer

@Suite("The API's own description")
struct OpenAPITests {
    private static let methods = ["get", "post", "patch", "delete"]

    private func document() async throws -> (TestAPI, JSONText) {
        let api = try TestAPI(deletes: true)
        let answer = await api.call("GET", "/openapi.json")
        #expect(answer.status == 200)
        return (api, answer.json)
    }

    /// What a reference leads to.
    private func target(of reference: String, in document: JSONText) -> JSONText? {
        reference.split(separator: "/").dropFirst().reduce(document) { place, name in place?[String(name)] }
    }

    private func references(in value: JSONText) -> [String] {
        switch value.kind {
        case .object:
            value.members.flatMap { name, value in
                name == "$ref" ? [value.string ?? ""] : references(in: value)
            }
        case .array: value.elements.flatMap(references)
        default: []
        }
    }

    @Test("every reference leads somewhere, every part is used, every call has a name of its own")
    func wellFormed() async throws {
        let (_, document) = try await document()
        #expect(document["openapi"] == "3.1.0")
        let used = Set(references(in: document))
        #expect(used.filter { target(of: $0, in: document) == nil } == [])
        for kind in ["schemas", "parameters", "responses"] {
            let all = document.at(path: "components.\(kind)")?.members.map { "#/components/\(kind)/\($0.key)" } ?? []
            #expect(!all.isEmpty)
            let needsNoUse = ["#/components/schemas/Dashboard"]
            let optional = ["period", "scope", "user", "reveal"].map { "#/components/parameters/\($0)" }
            #expect(Set(all).subtracting(used).subtracting(needsNoUse + optional) == [])
        }
        let names = document["paths"]?.members.flatMap {
            $0.value.members.compactMap { $0.value["operationId"]?.string }
        }
        #expect(names?.count == Set(names ?? []).count)
    }

    @Test("it describes just the methods that each address takes")
    func matchesTheAddresses() async throws {
        let (api, document) = try await document()
        for (path, calls) in document["paths"]?.members ?? [] {
            let address = path.replacing("{id}", with: "1")
            let answer = await api.call("OPTIONS", address)
            #expect(answer.status == 405, "\(path)")
            let allowed = Set(
                (answer.header("Allow") ?? "").replacing(" ", with: "").split(separator: ",").map(String.init))
            #expect(allowed.subtracting(["HEAD"]) == Set(calls.members.map { $0.key.uppercased() }), "\(path)")
        }
    }

    @Test("it has every call that the manual has")
    func matchesTheManual() async throws {
        let (_, document) = try await document()
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let manual = try String(contentsOf: root.appending(path: "docs/api.md"), encoding: .utf8)
        let paths = document["paths"] ?? .null
        for line in manual.split(separator: "\n") where line.hasPrefix("| `") {
            let parts = line.dropFirst(3).prefix { $0 != "`" }.split(separator: " ")
            guard parts.count == 2, Self.methods.contains(parts[0].lowercased()), parts[1].hasPrefix("/") else {
                continue
            }
            let path = String(parts[1].prefix { $0 != "?" }).replacing("{entity}", with: "orders")
                .replacing("{relation}", with: "messages")
            #expect(paths[path]?[parts[0].lowercased()] != nil || path == "/v1/dashboard", "\(line.prefix(60))")
        }
    }

    @Test("its example of a record fits its own description of one")
    func examples() async throws {
        let (_, document) = try await document()
        let orders = try #require(document.at(path: "components.schemas")?["orders.record"])
        let example = try #require(orders["examples"]?.elements.first)
        #expect(Set(example.members.map(\.key)) == ["id", "status", "total", "created_at", "_sync"])
        #expect(example["total"]?.text == "129.90")
        #expect(orders.at(path: "properties.status.enum")?.elements == ["open", "ready", .null])
    }

    @Test("secret fields are taken, and revealed, but not shown")
    func secrets() throws {
        let schema = try EntitySchema(
            yaml: """
                schema: shop
                upstream:
                  base_url: http://localhost
                  pagination: { style: page }
                entities:
                  devices:
                    fields:
                      id: { type: string }
                      passcode: { type: string, secret: true }
                    pull: { path: /devices }
                    push:
                      create: { call: POST /devices }
                """, file: "shop.yaml")
        let document = try OpenAPIDocument(schema: schema, version: "1").json()
        let schemas = try #require(document.at(path: "components.schemas"))
        #expect(schemas["devices.record"]?["properties"]?["passcode"] == nil)
        #expect(schemas["devices.new"]?["properties"]?["passcode"] != nil)
        let one = document["paths"]?["/v1/devices/{id}"]?["get"]
        #expect(one?["parameters"]?.elements.contains { $0["$ref"]?.string?.hasSuffix("/reveal") == true } == true)
    }
}

import EntitySchema
import Foundation
import JSONText
import SocketServer
import TestSupport
import Testing

@testable import LocalAPIServer

@Suite("OpenAPI document")
struct OpenAPITests {
    private static let methods = ["get", "post", "put", "patch", "delete"]

    private func document() async throws -> (TestAPI, JSONText) {
        let api = try TestAPI(deletes: true)
        let answer = await api.call("GET", "/openapi.json")
        #expect(answer.status == 200)
        return (api, answer.json)
    }

    /// The target of a reference.
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

    @Test("every reference resolves, every component is used, every operation id is unique")
    func wellFormed() async throws {
        let (_, document) = try await document()
        #expect(document["openapi"] == "3.1.0")
        let used = Set(references(in: document))
        #expect(used.filter { target(of: $0, in: document) == nil } == [])
        for kind in ["schemas", "parameters", "responses"] {
            let all = document.at(path: "components.\(kind)")?.members.map { "#/components/\(kind)/\($0.key)" } ?? []
            #expect(!all.isEmpty)
            let needsNoUse = ["#/components/schemas/Dashboard"]
            let optional = ["period", "scope", "user"].map { "#/components/parameters/\($0)" }
            #expect(Set(all).subtracting(used).subtracting(needsNoUse + optional) == [])
        }
        let names = document["paths"]?.members.flatMap {
            $0.value.members.compactMap { $0.value["operationId"]?.string }
        }
        #expect(names?.count == Set(names ?? []).count)
    }

    @Test("no object of it has a member twice")
    func unambiguous() async throws {
        let (_, document) = try await document()
        #expect(throws: Never.self) { try JSONText(unambiguous: Array(document.bytes)) }
    }

    @Test("it describes exactly the methods of each path")
    func matchesTheAddresses() async throws {
        let (api, document) = try await document()
        for (path, calls) in document["paths"]?.members ?? [] {
            let address = path.replacing("{id}", with: "1")
            let answer = await api.call("OPTIONS", address)
            #expect(answer.status == 204, "\(path)")
            let allowed = Set(
                (answer.header("Allow") ?? "").replacing(" ", with: "").split(separator: ",").map(String.init))
            #expect(
                allowed.subtracting(["HEAD", "OPTIONS"]) == Set(calls.members.map { $0.key.uppercased() }), "\(path)")
        }
    }

    @Test("it has every call of the manual")
    func matchesTheManual() async throws {
        let (_, document) = try await document()
        let manual = try ProjectFiles.text("docs/api.md")
        let paths = document["paths"] ?? .null
        for line in manual.split(separator: "\n") where line.hasPrefix("| `") {
            let parts = line.dropFirst(3).prefix { $0 != "`" }.split(separator: " ")
            guard parts.count == 2, Self.methods.contains(parts[0].lowercased()), parts[1].hasPrefix("/") else {
                continue
            }
            let template = String(parts[1].prefix { $0 != "?" })
            let path = template.replacing("{entity}", with: "orders").replacing("{relation}", with: "messages")
            let calls = paths[path] ?? paths[template]
            #expect(calls?[parts[0].lowercased()] != nil || path == "/v1/dashboard", "\(line.prefix(60))")
        }
    }

    @Test("every name that it lists for a parameter is accepted")
    func names() async throws {
        let (api, document) = try await document()
        let references = document["paths"]?["/v1/orders"]?["get"]?["parameters"]?.elements ?? []
        let parameters = references.compactMap { target(of: $0["$ref"]?.string ?? "", in: document) }
        #expect(parameters.contains { $0["name"] == "include" })
        for parameter in parameters {
            let name = try #require(parameter["name"]?.string)
            for value in parameter.at(path: "schema.items.enum")?.elements ?? [] {
                let answer = await api.call("GET", "/v1/orders?\(name)=\(value.plain)")
                #expect(answer.status == 200, "\(name)=\(value.plain): \(answer.text)")
            }
        }
        let include = try #require(parameters.first { $0["name"] == "include" })
        #expect(
            include.at(path: "schema.items.enum")?.elements
                == ["messages", "messages.order", "messages.order.messages"])
    }

    @Test("a body has exactly the fields that the schema can send")
    func bodies() throws {
        let document = try Self.document(
            fields: "status: { type: string }\n      notes: { type: string, required: true }",
            push: """
                create: { call: POST /devices, fields: [notes] }
                      update: { call: "PATCH /devices/{id}", fields: [status] }
                """)
        let schemas = try #require(document.at(path: "components.schemas"))
        #expect(schemas["devices.new"]?["properties"]?.members.map(\.key) == ["id", "notes"])
        #expect(schemas["devices.new"]?["required"]?.elements == ["notes"])
        #expect(schemas["devices.changes"]?["properties"]?.members.map(\.key) == ["status"])
    }

    @Test("a local-only entity's bodies have all fields that can be written")
    func localBodies() async throws {
        let schemas = try Self.document(
            fields: "notes: { type: string }", push: "create: { call: POST /devices }",
            more: "memos: { local: true, fields: { id: { type: string }, text: { type: string } } }"
        ).at(path: "components.schemas")
        #expect(schemas?["memos.new"]?["properties"]?.members.map(\.key) == ["id", "text"])
        #expect(schemas?["memos.changes"]?["properties"]?.members.map(\.key) == ["text"])
    }

    @Test("a record created below another does not need its key")
    func foreignKeys() async throws {
        let (api, document) = try await document()
        #expect(
            document.at(path: "components.schemas")?["messages.new"]?["required"]?.elements == ["order_id", "text"])
        let call = document["paths"]?["/v1/orders/{id}/messages"]?["post"]
        let body = call?.at(path: "requestBody.content")?["application/json"]?["schema"]?["$ref"]?.string
        let schema = try #require(target(of: body ?? "", in: document))
        #expect(schema["required"]?.elements == ["text"])
        #expect(schema["properties"]?["order_id"] == nil)
        let order = await api.call("POST", "/v1/orders", body: "{}")
        let path = try #require(order.header("Location"))
        #expect(await api.call("POST", "\(path)/messages", body: #"{"text":"a"}"#).status == 201)
    }

    @Test("the smallest and largest number of a parameter are accepted, and none beyond")
    func bounds() async throws {
        let (api, document) = try await document()
        for (path, calls) in document["paths"]?.members ?? [] {
            let isList = calls["get"]?["responses"]?["200"]?["content"]?["application/x-ndjson"] != nil
            // Only a whole list takes all numbers that its `limit` can be.
            let headers = isList ? ["Accept": "application/x-ndjson"] : [:]
            for reference in calls["get"]?["parameters"]?.elements ?? [] {
                let parameter = try #require(target(of: reference["$ref"]?.string ?? "", in: document))
                guard parameter["in"] == "query", let name = parameter["name"]?.string, name != "wait",
                    let least = parameter.at(path: "schema.minimum")?.integer,
                    let greatest = parameter.at(path: "schema.maximum")?.integer
                else { continue }
                let address = path.replacing("{id}", with: "1") + (path == "/v1/search" ? "?q=ab&" : "?") + name
                for number in ["\(least)", "\(greatest)"] {
                    let answer = await api.call("GET", "\(address)=\(number)", headers: headers)
                    #expect(answer.status != 400, "\(address)=\(number)")
                }
                for number in ["\(least - 1)", "\(greatest)0"] {
                    let answer = await api.call("GET", "\(address)=\(number)", headers: headers)
                    #expect(answer.status == 400, "\(address)=\(number)")
                }
            }
        }
    }

    @Test("every answer has the header fields that the document lists for its status")
    func headers() async throws {
        let (api, document) = try await document()
        let answers = [
            await api.call("POST", "/v1/orders", body: "{}"), await api.call("PUT", "/v1/orders"),
            await api.call("GET", "/v1/orders", headers: ["Authorization": nil]),
        ]
        #expect(answers.map(\.status) == [201, 405, 401])
        for answer in answers {
            let response =
                answer.status == 201
                ? document["paths"]?["/v1/orders"]?["post"]?["responses"]?["201"]
                : document.at(path: "components.responses")?[String(answer.status)]
            let declared = (response?["headers"]?.members ?? []).map { name, header in
                (name, header["$ref"]?.string.flatMap { target(of: $0, in: document) } ?? header)
            }
            let always = declared.filter { $0.1["required"] == true }.map(\.0)
            #expect(always.count > 3 && always.allSatisfy { answer.header($0) != nil }, "\(answer.status)")
            // Nor has it others, but for those that keep browsers away.
            let ours = ["Content-Type", "X-Content-Type-Options", "Cross-Origin-Resource-Policy"]
            let names = Set(answer.response.allHeaders.map(\.name)).subtracting(ours)
            #expect(names.subtracting(declared.map(\.0)) == [], "\(answer.status)")
        }
    }

    @Test("its links lead from a list to its first record, and from a creation to the new record")
    func links() async throws {
        let document = try await document().1
        let api = try await TestAPI.filled()
        let made = await api.call("POST", "/v1/orders", body: "{}").json["id"]?.string
        let operations = (document["paths"]?.members ?? []).flatMap { path, calls in
            calls.members.map { (id: $0.value["operationId"], method: $0.key, path: path) }
        }
        let first = await api.call("GET", "/v1/orders").json.at(path: "data")?.elements.first?["id"]?.string
        for (method, status, id) in [("get", "200", first), ("post", "201", made)] {
            let links = document["paths"]?["/v1/orders"]?[method]?["responses"]?[status]?["links"]?.members ?? []
            #expect(links.map(\.key).contains("updateOrder"))
            let key = try #require(id)
            for link in links.map(\.value) {
                let pointer = method == "get" ? "$response.body#/data/0/id" : "$response.body#/id"
                #expect(link.at(path: "parameters.id")?.string == pointer)
                let operation = try #require(operations.first { $0.id == link["operationId"] })
                guard operation.method == "get" else { continue }
                let address = operation.path.replacing("{id}", with: key)
                // Neither record has content yet.
                let isOfContent = address.hasSuffix("/content") || address.hasSuffix("/thumbnail")
                #expect(await api.call("GET", address).status == (isOfContent ? 404 : 200), "\(address)")
            }
        }
    }

    @Test("its example of a record matches its schema")
    func examples() async throws {
        let (_, document) = try await document()
        let orders = try #require(document.at(path: "components.schemas")?["orders.record"])
        let example = try #require(orders["examples"]?.elements.first)
        #expect(Set(example.members.map(\.key)) == ["id", "status", "total", "created_at", "_sync"])
        #expect(example["total"]?.text == "129.90")
        let status = try #require(orders.at(path: "properties.status.anyOf")?.elements)
        #expect(status.first?["x-extensible-enum"]?.elements == ["open", "ready"])
    }

    @Test("operation ids make good names of methods, each once")
    func operationNames() async throws {
        let (_, document) = try await document()
        func id(_ method: String, _ path: String) -> String? {
            document["paths"]?[path]?[method]?["operationId"]?.string
        }
        #expect(id("get", "/v1/orders") == "listOrders" && id("post", "/v1/orders") == "createOrder")
        let ofOne = ["get", "patch", "put", "delete"].map { id($0, "/v1/orders/{id}") }
        #expect(ofOne == ["getOrder", "updateOrder", "saveOrder", "deleteOrder"])
        #expect(id("get", "/v1/orders/{id}/messages") == "listMessagesOfOrder")
        #expect(id("post", "/v1/orders/{id}/messages") == "createMessageOfOrder")
        #expect(id("put", "/v1/orders/{id}/content") == "uploadContentOfOrder")
        #expect(id("get", "/v1/status") == "getStatus" && id("post", "/v1/pending/{id}/retry") == "retryPendingChange")
        let all = (document["paths"]?.members ?? []).flatMap {
            $0.value.members.compactMap { $0.value["operationId"]?.string }
        }
        #expect(all.allSatisfy { $0.wholeMatch(of: /[a-z]+[A-Za-z0-9]*/) != nil })
        // The names of the daemon's own calls do not depend on the schema.
        let other = try Self.document(
            fields: "a: { type: string }", push: "create: { call: POST /devices }",
            more: "statuses: { local: true, fields: { id: { type: string } } }")
        #expect(other["paths"]?["/v1/status"]?["get"]?["operationId"] == "getStatus")
        #expect(other["paths"]?["/v1/statuses/{id}"]?["get"]?["operationId"] == "getStatusRecord")
    }

    @Test("enums and types in answers are open, those of requests are not")
    func open() async throws {
        let (_, document) = try await document()
        let schemas = document.at(path: "components.schemas") ?? .null
        let bodies = ["BatchedWrite", "Choice", "Fields", "Snooze", "SyncRequest", "orders.new", "orders.changes"]
        for (name, schema) in schemas.members
        where !bodies.contains(name) && !name.contains(".new") && !name.hasSuffix(".changes") {
            #expect(!schema.text.contains(#""enum":"#), "\(name)")
        }
        #expect(schemas["Choice"]?.text.contains(#""enum":"#) == true)
        #expect(schemas["orders.changes"]?.at(path: "properties.status.enum")?.elements == ["open", "ready", .null])
        for (field, schema) in schemas["orders.record"]?["properties"]?.members ?? [] where !field.hasPrefix("_") {
            #expect(schema["anyOf"]?.elements.last == .object([:]), "\(field)")
        }
    }

    @Test("every answer declares the header fields that all have, and a list its Link")
    func declaredHeaders() async throws {
        let (_, document) = try await document()
        for (path, calls) in document["paths"]?.members ?? [] {
            for (method, call) in calls.members {
                for (status, response) in call["responses"]?.members ?? [] {
                    let answer = response["$ref"]?.string.flatMap { target(of: $0, in: document) } ?? response
                    let names = answer["headers"]?.members.map(\.key) ?? []
                    #expect(
                        Set(["X-Request-Id", "Vary", "Cache-Control"]).isSubset(of: names),
                        "\(method) \(path) \(status)")
                }
            }
        }
        let list = document["paths"]?["/v1/orders"]?["get"]?["responses"]?["200"]?["headers"]
        #expect(list?["Link"] != nil && list?["ETag"] != nil)
    }

    @Test("a list declares every format that it is served in, and that it may be compressed")
    func listFormats() async throws {
        let api = try TestAPI()
        let document = await api.call("GET", "/openapi.json").json
        for path in ["/v1/orders", "/v1/orders/{id}/messages"] {
            let answer = try #require(document["paths"]?[path]?["get"]?["responses"]?["200"])
            let types = answer["content"]?.members.map(\.key) ?? []
            #expect(types == ["application/json", "application/x-ndjson", "application/jsonl", "text/csv"])
            for type in types {
                let served = await api.call("GET", "/v1/orders", headers: ["Accept": type])
                #expect(served.header("Content-Type")?.hasPrefix(type) == true)
            }
            let headers = answer["headers"]?.members.map(\.key) ?? []
            #expect(headers.contains("Content-Encoding") && headers.contains("Cache-Status"))
        }
    }

    @Test("the codes of problems are declared with their answers")
    func codes() async throws {
        let (_, document) = try await document()
        for code in ProblemCode.allCases {
            guard let answer = document.at(path: "components.responses")?["\(code.status)"] else { continue }
            #expect(answer["description"]?.string?.contains("\(code.rawValue): ") == true, "\(code)")
        }
        let known = document.at(path: "components.schemas.Problem.properties.code")?["x-extensible-enum"]?.elements
        #expect(known?.map(\.plain) == ProblemCode.allCases.map(\.rawValue))
    }

    @Test("secret fields are accepted and can be revealed, but are not shown")
    func secrets() throws {
        let document = try Self.document(
            fields: "passcode: { type: string, secret: true }", push: "create: { call: POST /devices }")
        let schemas = try #require(document.at(path: "components.schemas"))
        #expect(schemas["devices.record"]?["properties"]?["passcode"] == nil)
        #expect(schemas["devices.new"]?["properties"]?["passcode"] != nil)
        let one = document["paths"]?["/v1/devices/{id}"]?["get"]
        let reveal = one?["parameters"]?.elements.compactMap { $0["$ref"]?.string }.first { $0.hasSuffix(".reveal") }
        let parameter = try #require(target(of: reveal ?? "", in: document))
        #expect(parameter.at(path: "schema.items.enum")?.elements == ["passcode"])
    }

    /// The document of a system whose devices have these fields besides their key; `more`: another entity.
    @Test("an operation of a batch names the entities that can be written so, and is left out without any")
    func batches() throws {
        let operations = try Self.document(
            fields: "a: { type: string }", push: "create: { call: POST /devices }",
            more: "notes: { local: true, fields: { id: { type: string } } }"
        ).at(path: "components.schemas.BatchedWrite.oneOf")?.elements.map(\.["properties"])
        let found = operations?.map { ($0?.at(path: "operation.const")?.string, $0?.at(path: "entity.enum")?.text) }
        let expected = [
            ("create", #"["devices","notes"]"#), ("update", #"["notes"]"#), ("replace", #"["notes"]"#),
            ("delete", #"["notes"]"#),
        ]
        #expect(found?.map(\.0) == expected.map(\.0) && found?.map(\.1) == expected.map(\.1))
        let readOnly = try Self.document(fields: "push: { type: string }", push: "{}")
        #expect(readOnly.at(path: "components.schemas.BatchedWrite") == .object(["not": .object([:])]))
    }

    private static func document(fields: String, push: String, more: String = "") throws -> JSONText {
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
                      \(fields)
                    pull: { path: /devices }
                    push:
                      \(push)
                  \(more)
                """, file: "shop.yaml")
        return try OpenAPIDocument(schema: schema, version: "1", calls: RouteTable(schema).calls).json()
    }
}

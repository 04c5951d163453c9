import CacheStore
import EntitySchema
import Foundation
import JSONText
import TestSupport
import Testing

@testable import LocalAPIServer

@Suite("The schema as callers see it")
struct SchemaTests {
    private func entity(_ name: String) async throws -> JSONText {
        let answer = await (try TestAPI(yaml: Self.workshop)).call("GET", "/v1/schema/\(name)")
        #expect(answer.status == 200)
        return answer.json
    }

    @Test("it has the entities in the order of the file, before anything was synced")
    func all() async throws {
        let api = try TestAPI(yaml: Self.workshop)
        let answer = await api.call("GET", "/v1/schema")
        #expect(answer.status == 200)
        #expect(answer.json["name"] == "workshop" && answer.json["title"] == "The Workshop")
        let entities = answer.json["entities"]?.elements ?? []
        #expect(entities.map { $0["name"] } == ["orders", "parts", "memos"])
        for shown in entities {
            let name = try #require(shown["name"]?.string)
            #expect(await api.call("GET", "/v1/schema/\(name)").json == shown)
        }
    }

    @Test("an entity has its names, its order and what can be written")
    func operations() async throws {
        let orders = try await entity("orders")
        #expect(orders["key"] == "id" && orders["local"] == false)
        #expect(orders["title"] == "#{number}" && orders["title_else"] == "{id}")
        #expect(orders["sort"] == "-number,id")
        #expect(orders["create"]?.elements == ["id", "number", "pin"])
        #expect(orders["update"]?.elements == ["number", "state"])
        #expect(orders["delete"] == false)
        #expect(
            orders["content"]?.text
                == #"{"upload":true,"create":false,"delete":false,"types":["image/png"],"max_size":2048,"state":null}"#)
    }

    @Test("what an entity does not have is null")
    func defaults() async throws {
        let parts = try await entity("parts")
        #expect(parts["title"] == "{code}")
        for name in ["title_else", "sort", "create", "update", "content"] { #expect(parts[name] == .null, "\(name)") }
        #expect(parts["delete"] == true)
    }

    @Test("all fields of a local-only entity can be written, except those that are computed")
    func local() async throws {
        let memos = try await entity("memos")
        #expect(memos["local"] == true && memos["delete"] == true)
        #expect(memos["create"]?.elements == ["id", "text"])
        #expect(memos["update"]?.elements == ["text"])
    }

    @Test("a field has everything that a form needs, in the order of the file")
    func fields() async throws {
        let fields = try await entity("orders")["fields"]?.elements ?? []
        #expect(fields.map { $0["name"] } == ["id", "number", "state", "pin", "part_count"])
        #expect(
            fields[1].text
                == #"{"name":"number","type":"integer","values":null,"to":null,"from":null,"required":true,"#
                + #""index":true,"natural":false,"search":"fragments","secret":false,"sealed":false,"computed":false,"default":null}"#
        )
        #expect(
            fields[2]["values"]?.text
                == #"[{"value":"ready","label":"Ready now","icon":"star"},{"value":"open","label":"Open","icon":null}]"#
        )
        #expect(fields.map { $0["secret"] } == [false, false, false, true, false])
        #expect(fields.map { $0["computed"] } == [false, false, false, false, true])
        let part = try await entity("parts")["fields"]?.elements[1]
        #expect(part?["type"] == "reference" && part?["to"] == "orders" && part?["from"] == "order.id")
    }

    @Test("a relation names its entity and the field that it goes by")
    func relations() async throws {
        #expect(
            try await entity("orders")["relations"]?.text
                == #"[{"name":"parts","many":true,"entity":"parts","by":"order_id"}]"#)
        #expect(
            try await entity("parts")["relations"]?.text
                == #"[{"name":"order","many":false,"entity":"orders","by":"order_id"}]"#)
    }

    @Test("an unknown entity gets 404, with the name that was probably meant")
    func unknown() async throws {
        let api = try TestAPI(yaml: Self.workshop)
        let answer = await api.call("GET", "/v1/schema/ordes")
        #expect(answer.status == 404)
        #expect(answer.json["detail"]?.string?.contains("did you mean orders?") == true)
        #expect(await api.call("GET", "/v1/schema?entity=orders").status == 400)
        #expect(await api.call("POST", "/v1/schema", body: "{}").status == 405)
    }

    @Test("its tag stays the same while records change, and differs for another schema")
    func tags() async throws {
        let api = try TestAPI(yaml: Self.workshop)
        for path in ["/v1/schema", "/v1/schema/memos"] {
            let tag = try #require(await api.call("GET", path).header("ETag"))
            #expect(await api.call("POST", "/v1/memos", body: #"{"text":"a"}"#).status == 201)
            let again = await api.call("GET", path, headers: ["If-None-Match": tag])
            #expect(again.status == 304 && again.text.isEmpty && again.header("ETag") == tag)
            let yaml = Self.workshop.replacing("text: { type: string", with: "text: { type: integer")
            let other = try TestAPI(yaml: yaml)
            #expect(await other.call("GET", path).header("ETag") != tag)
        }
    }

    @Test("nothing about the upstream is shown")
    func secrets() async throws {
        let text = await (try TestAPI(yaml: Self.workshop)).call("GET", "/v1/schema").text
        for secret in ["workshop.example", "X-Key", "s3cret", "/api/"] {
            #expect(!text.contains(secret), "\(secret)")
        }
    }

    @Test(
        "every shipped schema is described, and every name in it leads somewhere",
        arguments: ["itori", "messages", "propdocs", "repairminder", "repairminder-live"])
    func shipped(_ name: String) throws {
        let file = "config/schemas/\(name).yaml"
        let schema = try EntitySchema(yaml: ProjectFiles.text(file), file: file)
        let entities = SchemaDescription.json(of: schema)["entities"]?.elements ?? []
        #expect(entities.compactMap { $0["name"]?.string } == schema.entities.map(\.name))
        for entity in entities {
            let fields = entity["fields"]?.elements ?? []
            let names = fields.compactMap { $0["name"]?.string }
            for field in fields where field["to"] != .null { #expect(schema[field["to"]?.string ?? ""] != nil) }
            for list in ["create", "update"] {
                #expect(entity[list]?.elements.allSatisfy { names.contains($0.plain) } == true)
            }
        }
    }

    private static let workshop = """
        schema: workshop
        title: The Workshop
        upstream:
          base_url: https://workshop.example
          headers: { X-Key: s3cret }
        entities:
          orders:
            title: "#{number}"
            title_else: id
            sort: -number,id
            fields:
              id: { type: string }
              number: { type: integer, index: true, search: fragments, required: true }
              state: { type: enum, values: { ready: { label: Ready now, icon: star }, open: Open } }
              pin: { type: string, secret: true }
              part_count: { type: integer, derive: { count: parts } }
            many: { parts: { of: parts, by: order_id } }
            content: { upload: { call: "PUT /api/orders/{id}/scan" }, types: [image/png], max_size: 2KiB }
            pull: { path: /api/orders }
            push:
              create: { call: POST /api/orders, fields: [pin, number] }
              update:
                - { call: "PATCH /api/orders/{id}/state", fields: [state] }
                - { call: "PATCH /api/orders/{id}", when: { state: open }, fields: [number] }
          parts:
            key: code
            fields:
              code: { type: string }
              order_id: { type: reference, to: orders, from: order.id }
            pull: { path: /api/parts }
            push: { delete: { call: "DELETE /api/parts/{code}" } }
          memos:
            local: true
            fields:
              id: { type: string }
              text: { type: string, required: true }
              shown: { type: string, derive: { text: "{text}!" } }
        """
}

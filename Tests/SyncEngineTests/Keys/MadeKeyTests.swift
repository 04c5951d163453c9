import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import CacheStore
@testable import SyncEngine
@testable import Upstream

/// Keys that no request of the upstream's has as they are: of several parts, names in an object, and links.
@Suite("A key that is made of what the upstream has", .timeLimit(.minutes(10)))
struct MadeKeyTests {
    private func test(_ schema: String, _ server: ShapedServer) throws -> TestEngine {
        let plan = try EntitySchema(yaml: schema, file: "shop.yaml").upstream
        let upstream = HTTPUpstream(plan: plan, transport: server)
        return try TestEngine(remote: upstream, schema: schema)
    }

    private func isSent(_ test: TestEngine) throws -> Bool { try test.store.pendingCount().pending == 0 }

    private func sent(_ server: ShapedServer) -> [String] {
        server.changes.map { "\($0.method) \($0.path) \($0.body.text)" }.sorted()
    }

    // MARK: Several parts

    private static let lines = """
        schema: shop
        upstream: { base_url: "http://shop" }
        entities:
          lines:
            key: { field: id, from: [order_id, line_no] }
            fields: { id: { type: string }, order_id: { type: integer, required: true }, line_no: { type: integer }, note: { type: string } }
            pull: { path: /lines, record: { path: "/orders/{order_id}/lines/{line_no}" } }
            push:
              create: { call: "POST /orders/{order_id}/lines", fields: [note] }
              update: { call: "PATCH /orders/{order_id}/lines/{line_no}", fields: [note] }
              delete: { call: "DELETE /orders/{order_id}/lines/{line_no}" }
        """

    /// Lines by their paths.
    private static func line(_ order: Int, _ line: Int, _ note: String) -> (String, JSONText) {
        (
            "/orders/\(order)/lines/\(line)",
            .object(["order_id": .integer(order), "line_no": .integer(line), "note": .string(note)])
        )
    }

    private static func lineServer() -> ShapedServer {
        let lines = [line(1, 1, "a"), line(1, 2, "b"), line(2, 1, "c")]
        return ShapedServer(Dictionary(uniqueKeysWithValues: lines)) { call, records in
            switch call.method {
            case "POST":
                let (path, made) = line(2, 2, call.body["note"]?.string ?? "")
                records[path] = made
                return (201, made)
            case "GET" where call.path == "/lines": return (200, records.served { $1 })
            case "DELETE":
                return (records.removeValue(forKey: call.path) == nil ? 404 : 200, .object([:]))
            default:
                guard let known = records[call.path] else { return (404, .object([:])) }
                records[call.path] = call.method == "PATCH" ? known.setting(call.body) : known
                return (200, records[call.path] ?? .null)
            }
        }
    }

    @Test("several parts: records that differ only together are created, edited and deleted by their parts")
    func parts() async throws {
        let server = Self.lineServer()
        let test = try test(Self.lines, server)
        try await test.running {
            try await test.engine.sync(SyncRequest(full: true))
            #expect(try test.store.rowCounts()["lines"] == 3)
            #expect(try test.record("1~2", "lines")?["note"] == "b")
            let own = try await test.store.create(
                "lines", body: .object(["order_id": 2, "note": "new"]), at: test.clock.timestamp)
            try await test.store.update("lines", key: "1~1", body: .object(["note": "x"]), at: test.clock.timestamp)
            try await test.store.delete("lines", key: "2~1", at: test.clock.timestamp)
            try await test.until { try isSent(test) }
            try await test.engine.sync(SyncRequest(full: true))
            #expect(try test.store.remote(of: "lines", key: own)?["id"] == "2~2")
        }
        #expect(
            sent(server) == [
                "DELETE /orders/2/lines/1 null", #"PATCH /orders/1/lines/1 {"note":"x"}"#,
                #"POST /orders/2/lines {"note":"new"}"#,
            ])
        #expect(try test.store.rowCounts()["lines"] == 3)
        #expect(try test.record("1~1", "lines")?["note"] == "x" && test.record("2~2", "lines")?["note"] == "new")
    }

    @Test("several parts: a record that has left the list is asked for by its parts")
    func absentParts() async throws {
        let server = Self.lineServer()
        let test = try test(Self.lines, server)
        try await test.running {
            try await test.engine.sync(SyncRequest(full: true))
            server.remove("/orders/1/lines/2")
            try await test.engine.sync(SyncRequest(full: true))
            try await test.until(step: .seconds(60)) { try test.store.rowCounts()["lines"] == 2 }
        }
        #expect(server.calls.contains { $0.method == "GET" && $0.path == "/orders/1/lines/2" })
    }

    // MARK: Names in an object

    /// Firebase: a list is an object, no record has its key, a creation is answered with the name, and an edit with what was
    /// sent.
    private static let todos = """
        schema: shop
        upstream: { base_url: "http://shop" }
        entities:
          todos:
            key: { field: id, from: $name }
            fields: { id: { type: string }, title: { type: string }, done: { type: boolean } }
            pull: { path: /todos.json, records: "*", record: { path: "/todos/{id}.json" } }
            push:
              create: { call: POST /todos.json, record: name }
              update: { call: "PATCH /todos/{id}.json" }
              delete: { call: "DELETE /todos/{id}.json" }
        """

    private static func todoServer(_ records: ShapedServer.Records) -> ShapedServer {
        ShapedServer(records) { call, records in
            let key = String(call.key.dropLast(".json".count))
            switch call.method {
            case "POST":
                records["-N9"] = call.body
                return (200, .object(["name": "-N9"]))
            case "GET" where call.path == "/todos.json":
                let members = records.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value) }
                return (200, members.isEmpty ? .null : .object(members: members))
            case "GET": return (200, records[key] ?? .null)
            case "PATCH":
                records[key] = (records[key] ?? .object([:])).setting(call.body)
                return (200, call.body)
            default:
                records[key] = nil
                return (200, .null)
            }
        }
    }

    @Test("names: records of an object are cached, created, edited and deleted by their names")
    func names() async throws {
        let server = Self.todoServer([
            "-N1": .object(["title": "a", "done": false]), "-N2": .object(["title": "b", "done": false]),
        ])
        let test = try test(Self.todos, server)
        try await test.running {
            try await test.engine.sync(SyncRequest(full: true))
            #expect(try test.store.remote(of: "todos", key: "-N1")?.text == #"{"id":"-N1","title":"a","done":false}"#)
            let own = try await test.store.create("todos", body: .object(["title": "new"]), at: test.clock.timestamp)
            try await test.store.update("todos", key: "-N1", body: .object(["done": true]), at: test.clock.timestamp)
            try await test.store.delete("todos", key: "-N2", at: test.clock.timestamp)
            try await test.until { try isSent(test) }
            try await test.engine.sync(SyncRequest(full: true))
            #expect(try test.store.remote(of: "todos", key: own)?["id"] == "-N9")
        }
        #expect(
            sent(server) == [
                "DELETE /todos/-N2.json null", #"PATCH /todos/-N1.json {"done":true}"#,
                #"POST /todos.json {"title":"new"}"#,
            ])
        #expect(try test.store.pendingCount() == PendingCount(pending: 0, failed: 0))
        #expect(try test.record("-N1", "todos")?["done"] == true && test.record("-N1", "todos")?["title"] == "a")
        #expect(try test.record("-N9", "todos")?["title"] == "new" && test.record("-N2", "todos") == nil)
    }

    @Test("names: an object without records is null, and that is an empty list")
    func noNames() async throws {
        let server = Self.todoServer([:])
        let test = try test(Self.todos, server)
        try await test.running { try await test.engine.sync(SyncRequest(full: true)) }
        #expect(try test.store.rowCounts()["todos"] ?? 0 == 0)
        #expect(try test.store.cursor(of: "todos").error == nil)
    }

    // MARK: References that are links

    private static let invoices = """
        schema: shop
        upstream: { base_url: "http://shop" }
        entities:
          contacts:
            key: { field: id, from: { link: url } }
            fields: { id: { type: string }, name: { type: string } }
            pull: { path: /contacts, records: contacts, record: { path: "/contacts/{id}", at: contact } }
            push:
              create: { call: POST /contacts, body: { contact: $fields }, record: contact }
          invoices:
            key: { field: id, from: { link: url } }
            fields:
              id: { type: string }
              contact_id: { type: reference, to: contacts, index: true, from: { link: contact, sent: "http://shop/contacts/{contact_id}" } }
              note: { type: string }
            pull: { path: /invoices, records: invoices, record: { path: "/invoices/{id}", at: invoice } }
            push:
              create: { call: POST /invoices, body: { invoice: { $fields: { contact: contact_id, note: note } } }, record: invoice }
              update: { call: "PUT /invoices/{id}", body: { invoice: { $fields: { contact: contact_id, note: note } } }, record: invoice }
        """

    /// Records by their paths; each answer has a list, or one record, under the entity's name.
    private static func invoiceServer() -> ShapedServer {
        let records: ShapedServer.Records = [
            "/contacts/1": .object(["url": "http://shop/contacts/1", "name": "Ann"]),
            "/invoices/1": .object(["url": "http://shop/invoices/1", "contact": "http://shop/contacts/1", "note": "n"]),
        ]
        return ShapedServer(records) { call, records in
            let list = call.path.split(separator: "/").first.map(String.init) ?? ""
            let name = String(list.dropLast())
            guard call.method != "GET" || call.path != "/\(list)" else {
                return (200, .object(members: [(list, records.filter { $0.key.hasPrefix("/\(list)/") }.served { $1 })]))
            }
            let path = call.method == "POST" ? "/\(list)/9" : call.path
            guard call.method == "POST" || records[path] != nil else { return (404, .object([:])) }
            let known = records[path] ?? .object(["url": .string("http://shop\(path)")])
            records[path] = call.method == "GET" ? known : known.setting(call.body[name] ?? .object([:]))
            return (200, .object(members: [(name, records[path] ?? .null)]))
        }
    }

    @Test("links: a reference is read from its link and sent as one, also to a record that is created with it")
    func links() async throws {
        let server = Self.invoiceServer()
        let test = try test(Self.invoices, server)
        try await test.running {
            try await test.engine.sync(SyncRequest(full: true))
            #expect(try test.record("1", "invoices")?["contact_id"] == "1")
            let contact = try await test.store.create(
                "contacts", body: .object(["name": "Bob"]), at: test.clock.timestamp)
            _ = try await test.store.create(
                "invoices", body: .object(["contact_id": .string(contact), "note": "new"]), at: test.clock.timestamp)
            try await test.until { try isSent(test) }
            try await test.store.update(
                "invoices", key: "1", body: .object(["contact_id": .string(contact)]), at: test.clock.timestamp)
            try await test.until { try isSent(test) }
            try await test.engine.sync(SyncRequest(full: true))
        }
        #expect(
            sent(server) == [
                #"POST /contacts {"contact":{"name":"Bob"}}"#,
                #"POST /invoices {"invoice":{"contact":"http://shop/contacts/9","note":"new"}}"#,
                #"PUT /invoices/1 {"invoice":{"contact":"http://shop/contacts/9"}}"#,
            ])
        #expect(try test.record("1", "invoices")?["contact_id"] == "9")
        #expect(try test.record("9", "invoices")?["contact_id"] == "9")
        #expect(try test.store.rowCounts()["invoices"] == 2)
        #expect(try test.store.drift().isEmpty)
    }
}

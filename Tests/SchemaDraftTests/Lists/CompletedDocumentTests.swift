import EntitySchema
import JSONText
import Testing

@testable import SchemaDraft

@Suite("Drafting from a document and the answers that it does not describe")
struct CompletedDocumentTests {
    private static let unsaid = "responses: { \"200\": { description: OK } }"
    private static let sent =
        "requestBody: { content: { application/json: { schema: { type: object, properties: { status: { type: string, enum: [open, paid] }, note: { type: string }, total: { type: number } } } } } }"
    private static let parameters =
        "parameters: [{ name: page, in: query, schema: { type: integer } }, { name: updated_since, in: query, schema: { type: string } }]"
    private static let paths = [
        "/orders: { get: { \(parameters), \(unsaid) }, post: { \(sent), \(unsaid) } }",
        "/orders/{id}: { get: { \(unsaid) }, patch: { \(sent), \(unsaid) }, delete: { \(unsaid) } }",
    ]

    private static func document(_ paths: [String] = paths, _ rest: [String] = []) throws -> OpenAPIDocument {
        let text = SmallDocument(schemas: [], paths: paths, rest: rest).text
        return try OpenAPIDocument(DocumentParser.value(of: Array(text.utf8)))
    }

    private static func records(_ count: Int) -> [String] {
        (1...count).map {
            #"{ "id": \#($0), "status": "open", "note": null, "total": 12, "updated_at": "2026-01-0\#($0)T09:00:00Z" }"#
        }
    }

    /// `around`: what the list is in, as an object's member of this name.
    private static func list(_ path: String, _ records: [String], around: String? = nil) throws -> ObservedList {
        let list = "[\(records.joined(separator: ","))]"
        let text = around.map { "{ \"\($0)\": \(list), \"count\": 90 }" } ?? list
        return ObservedList(path: path, answers: [try JSONText(parsing: text)])
    }

    private static func draft(
        _ lists: [ObservedList], _ document: OpenAPIDocument, signIn: TokenPlace? = nil
    ) throws -> SchemaDraft {
        let api = ObservedAPI(address: "https://shop.test/api", lists: lists, signIn: signIn)
        return try SchemaDrafter(api.completing(document), source: "test.yaml").draft()
    }

    private static func draftOfOrders() throws -> SchemaDraft {
        var list = try list("/orders", records(3), around: "data")
        list.single = try JSONText(parsing: "{ \"data\": \(records(1)[0]) }")
        list.singlePath = "/orders/{id}"
        return try draft([list], document())
    }

    @Test("Calls and parameters are the document's; the place of records, the key and the paging are as answered")
    func both() throws {
        let draft = try Self.draftOfOrders()
        let orders = try #require(draft.schema["orders"])
        #expect(orders.key == "id" && orders[field: "updated_at"]?.kind == .time)
        #expect(orders.pull?.list.records.paths == ["data"] && orders.pull?.list.total?.paths == ["count"])
        #expect(orders.pull?.isSince == true)
        #expect(draft.yaml.contains("record: { path: \"/orders/{id}\", at: data }"), "\(draft.yaml)")
        #expect(draft.yaml.contains("style: page, page: page"), "\(draft.yaml)")
        #expect(orders.push.create.first?.call == "POST /orders")
        #expect(orders.push.update.first?.call == "PATCH /orders/{id}")
        #expect(orders.push.delete.first?.call == "DELETE /orders/{id}")
    }

    @Test("Bodies say the values of what was seen once, the kind of what was null, and that a number has fractions")
    func bodies() throws {
        let orders = try #require(Self.draftOfOrders().schema["orders"])
        guard case .enum(let values)? = orders[field: "status"]?.kind else {
            Issue.record("no enum")
            return
        }
        #expect(values.map(\.value) == ["open", "paid"])
        #expect(orders[field: "note"]?.kind == .string)
        #expect(orders[field: "total"]?.kind != .integer)
    }

    @Test("A body with other values than were seen does not say what a record has")
    func otherValues() throws {
        let record = #"{ "id": 1, "status": "shipped", "note": "2026-01-05T09:00:00Z" }"#
        let orders = try #require(Self.draft([Self.list("/orders", [record])], Self.document()).schema["orders"])
        #expect(orders[field: "status"]?.kind == .string)
        #expect(orders[field: "note"]?.kind == .time)
    }

    @Test("The draft says what was learnt from where")
    func origins() throws {
        let yaml = try Self.draftOfOrders().yaml
        #expect(yaml.contains("test.yaml (OpenAPI 3.0.3, 1 list) and the answers of https://shop.test/api"), "\(yaml)")
        #expect(yaml.contains("# The document does not say what it answers: an answer showed the records."), "\(yaml)")
        #expect(yaml.contains("base_url: \"https://shop.test/api\"  # its lists answered there"), "\(yaml)")
    }

    @Test("A first page of a list without parameters may be all there is, or not: a TODO says so")
    func onePage() throws {
        let document = try Self.document(["/tags: { get: { \(Self.unsaid) } }"])
        let long = try Self.draft([Self.list("/tags", Self.records(6))], document)
        #expect(long.todos.contains { $0.contains("check that these 6 records are all") }, "\(long.todos)")
        let short = try Self.draft([Self.list("/tags", Self.records(2))], document)
        #expect(!short.todos.contains { $0.contains("pagination") }, "\(short.todos)")
    }

    @Test("The token is sent as it was; if that is not known, as the document says")
    func token() throws {
        let scheme =
            "components: { securitySchemes: { key: { type: apiKey, in: header, name: X-Api-Key } }, schemas: {} }"
        let text = """
            openapi: 3.0.3
            info: { title: Shop, version: "1" }
            \(scheme)
            paths:
              \(Self.paths[0])
            """
        let document = try OpenAPIDocument(DocumentParser.value(of: Array(text.utf8)))
        #expect(document.tokenPlace == .header(name: "X-Api-Key", before: "", after: ""))
        let list = try Self.list("/orders", Self.records(1))
        #expect(try Self.draft([list], document).yaml.contains("header: X-Api-Key"))
        let sent = try Self.draft([list], document, signIn: .query(name: "token")).yaml
        #expect(sent.contains("query: token") && !sent.contains("X-Api-Key"), "\(sent)")
    }

    // MARK: What is asked

    private func asked(_ paths: [String], names: [String] = []) throws -> [UnsaidList] {
        try UnsaidLists(Self.document(paths)).found(names: names)
    }

    @Test("Lists are asked by the calls beside them or by their names; calls that do something are not")
    func harmless() throws {
        let get = "get: { \(Self.unsaid) }"
        let records = "type: array, items: { type: object, properties: { id: { type: integer } } }"
        let described = "get: { \(SmallDocument.answers(records)) }"
        let found = try asked(
            Self.paths + [
                "/tags: { \(get) }", "/tag/{id}: { \(get) }", "/listColours: { \(get) }", "/people/GetAll: { \(get) }",
                "/people/GetById/{id}: { \(get) }", "/shops: { \(described) }", "/health: { \(get) }",
                "/audit-events: { get: { summary: List audit events, \(Self.unsaid) } }", "/send-reminders: { \(get) }",
                "/users/logout: { \(get) }", "/users/logout/{id}: { \(get) }",
                "/jobs: { get: { summary: Start all jobs, \(Self.unsaid) } }", "/shops/{id}/lamps: { \(get) }",
            ])
        #expect(
            found.map(\.path.text) == [
                "/orders", "/tags", "/listColours", "/people/GetAll", "/audit-events", "/shops/{id}/lamps",
            ])
        #expect(found.map(\.record?.text) == ["/orders/{id}", "/tag/{id}", nil, "/people/GetById/{id}", nil, nil])
        #expect(found.map(\.above?.path) == [nil, nil, nil, nil, nil, "/shops"])
    }

    @Test(
        "A path is not asked if any of its names says that it does something, or if it leads out of the API",
        arguments: [
            "/orders/bulk-delete", "/delete/customers", "/cron/emails", "/orders/{id}/archive", "/sessions/end",
            "/auth/logout-all", "/../../admin/users", "/%2E%2e/users", "/clear-caches/all",
        ])
    func acting(_ path: String) throws {
        let calls = "{ get: { \(Self.unsaid) }, post: { \(Self.unsaid) } }"
        #expect(try asked(Self.paths + ["\"\(path)\": \(calls)"]).map(\.path.text) == ["/orders"])
    }

    @Test("One record is not asked for by a call whose title says that it does something")
    func actingRecord() throws {
        let rotate = "get: { operationId: rotateKey, \(Self.unsaid) }"
        let found = try asked(["/keys: { get: { \(Self.unsaid) } }", "/keys/{id}: { \(rotate) }"])
        #expect(found.map(\.path.text) == ["/keys"] && found.first?.record == nil)
    }

    @Test("A list that needs a value which says that it does something is not asked")
    func actingValue() throws {
        let action = "{ name: action, in: query, required: true, schema: { type: string, enum: [purge] } }"
        #expect(try asked(["/tasks: { get: { parameters: [\(action)], \(Self.unsaid) } }"]).isEmpty)
    }

    @Test("A verb that all paths begin with says nothing of one of them")
    func sharedVerb() throws {
        let paths = ["/sync/v9/tasks", "/sync/v9/labels"].map { "\($0): { get: { \(Self.unsaid) } }" }
        #expect(try asked(paths).count == 2)
    }

    @Test("The first page is asked for as the document says; without a value that is needed nothing is")
    func queries() throws {
        func query(_ parameters: String) throws -> String? {
            try #require(asked(["/tags: { get: { parameters: [\(parameters)], \(Self.unsaid) } }"]).first).query
        }
        let page = "{ name: page, in: query, required: true, schema: { type: integer } }"
        let size = "{ name: limit, in: query, required: true, schema: { type: integer, maximum: 10 } }"
        let version = "{ name: api, in: query, required: true, schema: { type: string, enum: [v1] } }"
        let shop = "{ name: shop, in: query, required: true, schema: { type: string } }"
        #expect(try query("{ name: page, in: query, schema: { type: integer } }") == "")
        #expect(try query("\(page), \(size), \(version)") == "?api=v1&page=1&limit=10")
        #expect(try query(shop) == nil)
    }

    @Test("Only lists that get the names that are wanted are asked, and those above them")
    func names() throws {
        let more = ["/tags", "/tags/{id}/uses"].map { "\($0): { get: { \(Self.unsaid) } }" }
        #expect(try asked(Self.paths + more, names: ["tags"]).map(\.path.text) == ["/tags"])
        #expect(try asked(Self.paths + more, names: ["uses"]).map(\.path.text) == ["/tags", "/tags/{id}/uses"])
    }
}

import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting which calls belong to a list")
struct DraftCallTests {
    private typealias Document = SmallDocument

    private static let order =
        "Order: { type: object, properties: { id: { type: integer }, note: { type: string }, state: { type: string } } }"

    private func draft(_ paths: [String], _ schemas: [String] = []) throws -> SchemaDraft {
        try SchemaDraft.of(Document(schemas: [Self.order] + schemas, paths: paths).text)
    }

    @Test("Paths that say what they do are the calls of their list")
    func actions() throws {
        let orders = try draft([
            "/orders/list: { \(Document.list("Order")) }",
            "/orders/create: { \(Document.call("post", "Order", "Order")) }",
            "/orders/{id}/edit: { \(Document.call("post", "Order", "Order")) }",
            "/orders/{id}/delete: { post: { responses: { \"204\": { description: gone } } } }",
        ]).schema["orders"]
        #expect(orders?.push.create.first?.call == "POST /orders/create")
        #expect(orders?.push.update.first?.call == "POST /orders/{id}/edit")
        #expect(orders?.push.delete.first?.call == "POST /orders/{id}/delete")
    }

    @Test(
        "The path of a creation may name what it creates",
        arguments: ["createorder", "createOrder", "create-order", "add_order", "CreateOrder"])
    func namedCreation(_ word: String) throws {
        let orders = try draft([
            "/orders: { \(Document.list("Order")) }",
            "/orders/\(word): { \(Document.call("post", "Order", "Order")) }",
        ]).schema["orders"]
        #expect(orders?.push.create.first?.call == "POST /orders/\(word)")
    }

    @Test("A word before the key says what a path does, too")
    func before() throws {
        let orders = try draft([
            "/orders: { \(Document.list("Order")) }",
            "/orders/update/{id}: { \(Document.call("put", "Order", "Order")) }",
            "/orders/delete/{id}: { \(Document.deletion) }",
        ]).schema["orders"]
        #expect(orders?.push.update.first?.call == "PUT /orders/update/{id}")
        #expect(orders?.push.delete.first?.call == "DELETE /orders/delete/{id}")
    }

    @Test("A deletion has the parameter that must be true, and no other that may be")
    func confirmed() throws {
        func deletion(_ said: String) throws -> String? {
            let force = "{ name: force, in: query, description: \"\(said)\", schema: { type: boolean } }"
            let delete = "delete: { parameters: [\(force)], responses: { \"204\": { description: gone } } }"
            let paths = ["/orders: { \(Document.list("Order")) }", "\"/orders/{id}\": { \(delete) }"]
            return try draft(paths).schema["orders"]?.push.delete.first?.call
        }
        let needed = try deletion("Required to be true, as resource does not support trashing.")
        #expect(needed == "DELETE /orders/{id}?force=true")
        for said in ["Whether to bypass trash and force deletion.", "Must be true for the override to take effect."] {
            #expect(try deletion(said) == "DELETE /orders/{id}")
        }
    }

    @Test("A deletion by GET, and a POST to a path that only reads, are left out")
    func otherMethods() throws {
        let orders = try draft([
            "/orders: { \(Document.list("Order")) }", "/orders/delete/{id}: { \(Document.single("Order")) }",
            "/orders/{id}/view: { \(Document.call("post", "Order", "Order")) }",
        ]).schema["orders"]
        #expect(orders?.push.delete.isEmpty == true)
        #expect(orders?.push.update.isEmpty == true)
    }

    @Test("What is below the path of a record is not taken for it")
    func details() throws {
        let orders = try draft([
            "/orders: { \(Document.list("Order")) }", "/orders/{id}: { \(Document.single("Order")) }",
            "/orders/{id}/details: { \(Document.single("Order")), \(Document.deletion) }",
        ]).schema["orders"]
        #expect(orders?.push.delete.isEmpty == true)
    }

    @Test("Two paths that differ only in the names in braces are no versions of one")
    func names() throws {
        let draft = try draft([
            "/{shop}/orders: { \(Document.list("Order")) }", "/{team}/orders: { \(Document.list("Order")) }",
        ])
        #expect(draft.leftOut.isEmpty)
    }

    @Test(
        "A PUT to a list creates if it is described so, and is not taken for the replacement of all",
        arguments: [("Creates an order", false), ("Replaces the orders", true), ("Orders", true)])
    func put(_ summary: String, _ isOther: Bool) throws {
        let put = Document.call("put", "Order", "Order", "summary: \(summary),")
        let orders = try draft(["/orders: { \(Document.list("Order")), \(put) }"]).schema["orders"]
        #expect(orders?.push.create.isEmpty == isOther)
    }

    @Test("A list that only finds or suggests records is left out")
    func searches() throws {
        let query = "parameters: [{ name: q, in: query, required: true, schema: { type: string } }],"
        let keys =
            "parameters: [{ name: ids, in: query, required: true, schema: { type: array, items: { type: integer } } }],"
        let draft = try draft([
            "/orders: { \(Document.list("Order")) }", "/orders/search: { \(Document.list("Order", query)) }",
            "/autocomplete/orders: { \(Document.list("Order")) }", "/orders/by: { \(Document.list("Order", keys)) }",
            "/bills/searchOrders: { \(Document.list("Order", query.replacing("q,", with: "nome,"))) }",
            "/search/buyers: { \(Document.list("Order", query.replacing("q,", with: "name,"))) }",
        ])
        #expect(draft.schema.entities.map(\.name) == ["orders"])
        #expect(draft.leftOut.map(\.why) == Array(repeating: .sameRecords, count: 5))
    }

    @Test("Of two versions of a list, the one with the most calls is drafted, else the newest")
    func versions() throws {
        let even = try draft(["/v1/orders: { \(Document.list("Order")) }", "/v2/orders: { \(Document.list("Order")) }"])
        #expect(even.paths.map(\.path) == ["/v2/orders"])
        let more = try draft([
            "/orders: { \(Document.list("Order")), \(Document.call("post", "Order", "Order")) }",
            "/v2/orders: { \(Document.list("Order")) }",
        ])
        #expect(more.paths.map(\.path) == ["/orders"])
        #expect(more.leftOut.map(\.path) == ["/v2/orders"])
    }

    @Test("A name in the path that has the record's own in its middle is the member without it")
    func middle() throws {
        let shop = "Shop: { type: object, properties: { code: { type: string }, external_id: { type: string } } }"
        let shops = try draft(
            [
                "/shops: { \(Document.list("Shop")) }",
                "/shops/{external_shop_id}: { \(Document.single("Shop")), \(Document.deletion) }",
            ], [shop]
        ).schema["shops"]
        #expect(shops?.push.delete.first?.call == "DELETE /shops/{external_id}")
    }

    @Test("A name in the path that is called like the list is not the key of what the list's name begins with")
    func compound() throws {
        let draft = try draft(
            [
                "/order-payment: { \(Document.list("Payment")) }",
                "/order-payment/{order_payment_id}: { \(Document.single("Payment")) }",
                "/orders: { \(Document.list("Order")) }",
            ], ["Payment: { type: object, properties: { order_id: { type: integer }, sum: { type: number } } }"])
        #expect(draft.paths.map(\.path) == ["/orders"])
    }

    @Test("A name in the path that begins with the record above is not that record's key")
    func aboveInMiddle() throws {
        let sheet =
            "Sheet: { type: object, properties: { id: { type: integer }, sku_id: { type: integer }, note: { type: string } } }"
        let number = { (name: String) in "{ name: \(name), in: path, required: true, schema: { type: integer } }" }
        let parameters = "parameters: [\(number("sku_id")), \(number("sku_sheet_id"))],"
        let sheets = try draft(
            [
                "/skus/{sku_id}/sheets: { \(Document.list("Sheet", "parameters: [\(number("sku_id"))],")) }",
                "/skus/{sku_id}/sheets/{sku_sheet_id}: { \(Document.single("Sheet", parameters)), \(Document.deletion) }",
            ], [sheet]
        ).schema["sheets"]
        #expect(sheets?.key == "id")
        #expect(sheets?.push.delete.first?.call.hasSuffix("/sheets/{id}") == true)
    }

    @Test("A reference is to the list of its name before one that only has records of its kind")
    func references() throws {
        let line = "Line: { type: object, properties: { id: { type: integer }, order_id: { type: integer } } }"
        let draft = try draft(
            [
                "/stock: { \(Document.list("Order")) }", "/admin/orders: { \(Document.list("Order")) }",
                "/lines: { \(Document.list("Line")) }",
            ], [line])
        #expect(draft.schema["lines"]?[field: "order_id"]?.kind == .reference(to: "orders"))
    }

    @Test("Nothing refers to records by a name that a document gives to records of any kind")
    func anyKind() throws {
        let list = "List: { type: object, properties: { id: { type: integer }, list_id: { type: integer } } }"
        let orders = try draft(["/orders: { \(Document.list("List")) }"], [list]).schema["orders"]
        #expect(orders?[field: "list_id"]?.kind == .integer)
    }

    @Test("The end of a path that says in which format a list comes is no record")
    func export() throws {
        let trip = "Trip: { type: object, properties: { id: { type: integer }, type: { type: string } } }"
        let format =
            "parameters: [{ name: type, in: path, required: true, schema: { type: string, enum: [xlsx, mail] } }],"
        let trips = try draft(
            [
                "/trips: { \(Document.list("Trip")) }",
                "/trips/{type}: { get: { \(format) responses: { \"200\": { description: a file } } } }",
            ], [trip]
        ).schema["trips"]
        #expect(trips?.key == "id")
    }

    @Test("Of several references to the record above, the one in the path is that to the parent")
    func parent() throws {
        let shop = "Shop: { type: object, properties: { shop_id: { type: string }, external_id: { type: string } } }"
        let till =
            "Till: { type: object, properties: { code: { type: string }, own_shop_id: { type: string }, external_shop_id: { type: string } } }"
        let tills = try draft(
            [
                "/shops: { \(Document.list("Shop")) }",
                "/shops/{external_shop_id}: { \(Document.single("Shop")) }",
                "/shops/{external_shop_id}/tills: { \(Document.list("Till")) }",
                "/shops/{external_shop_id}/tills/{code}: { \(Document.single("Till")), \(Document.deletion) }",
            ], [shop, till]
        ).schema["tills"]
        #expect(tills?.push.delete.first?.call == "DELETE /shops/{external_shop_id}/tills/{code}")
    }

    @Test("A setting has one name, also where the path of a record has another for it than its list")
    func settings() throws {
        let orders = try draft([
            "/shops/{shop}/orders: { \(Document.list("Order")) }",
            "/shops/{shopID}/orders/{id}: { \(Document.single("Order")), \(Document.deletion) }",
        ])
        #expect(orders.yaml.contains("DELETE /shops/{$setting.shop}/orders/{id}"), "\(orders.yaml)")
        #expect(!orders.yaml.contains("shop_id"))
    }

    @Test("Two records that have the same name in braces are two settings")
    func twoSettings() throws {
        let orders = try draft(
            [
                "/shops/{uuid}/orders: { \(Document.list("Order")) }",
                "/depots/{uuid}/parcels: { \(Document.list("Parcel")) }",
            ], ["Parcel: { type: object, properties: { id: { type: integer }, weight: { type: number } } }"])
        #expect(orders.yaml.contains("/shops/{$setting.shop_uuid}/orders"), "\(orders.yaml)")
        #expect(orders.yaml.contains("/depots/{$setting.depot_uuid}/parcels"))
    }

    @Test(
        "A word after a list for some of its records is no other list, unless it creates, or the list answers only what is asked",
        arguments: [
            "/orders/latest", "/orders/last", "/orders/advanced-search", "/orders/search", "/orders/schema",
            "/orders/feed",
        ])
    func parts(_ path: String) throws {
        let part = try draft(["/orders: { \(Document.list("Order")) }", "\(path): { \(Document.list("Order")) }"])
        #expect(part.paths.map(\.path) == ["/orders"])
        #expect(part.leftOut.first?.reason == "its records are some of those of /orders")
        let own = try draft([
            "/orders: { \(Document.list("Order")) }",
            "\(path): { \(Document.list("Order")), \(Document.call("post", "Order", "Order")) }",
        ])
        #expect(own.paths.count == 2)
        let shop = "parameters: [{ name: shop, in: query, required: true, schema: { type: string } }],"
        let asked = try draft([
            "/orders: { \(Document.list("Order", shop)) }", "\(path): { \(Document.list("Order")) }",
        ])
        #expect(asked.paths.count == 2)
    }

    @Test("A list two records down that the record above has too is no other list")
    func deeper() throws {
        let named = ["Shop", "Shelf"].map {
            "\($0): { type: object, properties: { id: { type: integer }, name: { type: string } } }"
        }
        let draft = try draft(
            [
                "/shops: { \(Document.list("Shop")) }", "/shops/{shop_id}/orders: { \(Document.list("Order")) }",
                "/shops/{shop_id}/shelves: { \(Document.list("Shelf", "description: all,")) }",
                "/shops/{shop_id}/shelves/{shelf_id}/orders: { \(Document.list("Order")) }",
            ], named)
        #expect(
            draft.leftOut.first { $0.path.hasPrefix("/shops/{shop_id}/shelves/") }?.why == .sameRecords, "\(draft.yaml)"
        )
        #expect(draft.paths.map(\.path).contains("/shops/{shop_id}/orders"))
    }

    @Test("A deletion that names the version of the record has it from the record", arguments: ["version", "rank"])
    func versionedDeletion(_ member: String) throws {
        let thing = "Thing: { type: object, properties: { id: { type: integer }, \(member): { type: integer } } }"
        let parameter = "{ name: version, in: query, required: true, schema: { type: integer } }"
        let deletion = Document.deletion.replacing("delete: {", with: "delete: { parameters: [\(parameter)],")
        let things = "/things: { \(Document.list("Thing")) }"
        let draft = try draft([things, "/things/{id}: { \(deletion) }"], [thing])
        let call = draft.schema["things"]?.push.delete.first?.call
        #expect(call == (member == "version" ? "DELETE /things/{id}?version={version}" : nil), "\(draft.yaml)")
    }
}

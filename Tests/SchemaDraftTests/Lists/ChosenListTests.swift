import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting lists whose path ends with a name in braces")
struct ChosenListTests {
    private typealias Document = SmallDocument

    private static let schemas = [
        "Shop: { type: object, properties: { id: { type: integer }, title: { type: string } } }",
        "Order: { type: object, properties: { id: { type: integer }, number: { type: string }, sum: { type: integer } } }",
    ]
    private static let shops = "/shops: { \(Document.list("Shop")) }"

    private func draft(_ paths: [String]) throws -> SchemaDraft {
        try SchemaDraft.of(Document(schemas: Self.schemas, paths: [Self.shops] + paths).text)
    }

    @Test("A list for each value is drafted with a setting, if each of its records has a path below it")
    func records() throws {
        let change = Document.call("put", "Order", "Order")
        let draft = try draft([
            "/orders/{direction}: { \(Document.list("Order")), \(Document.call("post", "Order", "Order")) }",
            "/orders/{direction}/{order_id}: { \(Document.single("Order")), \(change), \(Document.deletion) }",
        ])
        #expect(draft.yaml.contains("path: \"/orders/{$setting.direction}\""), "\(draft.yaml)")
        #expect(draft.settings == ["direction"])
        let orders = try #require(draft.schema["orders"])
        #expect(orders.push.create.count == 1 && orders.push.update.count == 1 && orders.push.delete.count == 1)
        #expect(draft.leftOut.isEmpty, "\(draft.leftOut)")
    }

    @Test("Without such a path, it is left out with the reason")
    func leftOut() throws {
        let draft = try draft(["/orders/{direction}: { \(Document.list("Order")) }"])
        #expect(draft.leftOut.map(\.path) == ["/orders/{direction}"])
        #expect(draft.leftOut.first?.reason.contains("a list for each {direction}") == true)
    }

    @Test("The key of a list that was not asked for keeps its type", arguments: ["integer", "string"])
    func plainKey(_ type: String) throws {
        let shop = "Shop: { type: object, properties: { id: { type: \(type) }, title: { type: string } } }"
        let order = "Order: { type: object, properties: { id: { type: integer }, shop_id: { type: \(type) } } }"
        let paths = [Self.shops, "/orders: { \(Document.list("Order")) }"]
        let text = Document(schemas: [shop, order], paths: paths).text
        #expect(try SchemaDraft.of(text).schema["orders"]?[field: "shop_id"]?.kind == .reference(to: "shops"))
        let draft = try SchemaDraft.of(text, only: ["orders"])
        #expect(draft.schema["orders"]?[field: "shop_id"]?.kind == (type == "integer" ? .integer : .string))
        #expect(draft.yaml.contains("the key of shops, which this draft leaves out"))
    }

    @Test("A list of records that another list has as well is no loss")
    func others() throws {
        let paths = ["/orders: { \(Document.list("Order")) }", "/orders/shop/{shop_id}: { \(Document.list("Order")) }"]
        #expect(try draft(paths).leftOut.isEmpty)
    }
}

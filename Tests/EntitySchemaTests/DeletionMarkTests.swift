import JSONText
import Testing

@testable import EntitySchema

@Suite("Marks of deletion")
struct DeletionMarkTests {
    @Test(
        "a value that says no marks nothing, however the server writes it",
        arguments: [
            "null", "false", "0", #""""#, #""0""#, #""false""#, #""no""#, #""0001-01-01T00:00:00Z""#,
            #""0000-00-00 00:00:00""#,
        ])
    func unset(_ value: String) throws {
        let mark = PullPlan.DeletionMark(name: "deleted")
        #expect(!mark.isSet(by: try JSONText(parsing: value)))
        #expect(!mark.isSet(by: nil))
    }

    @Test(
        "any other value marks a deletion", arguments: ["true", "1", #""2026-11-25""#, #""yes""#, #"{"reason":"x"}"#])
    func set(_ value: String) throws {
        #expect(PullPlan.DeletionMark(name: "deleted").isSet(by: try JSONText(parsing: value)))
    }

    private func entity(_ mark: String, fields: String = "") throws -> Entity {
        let yaml = """
            schema: shop
            upstream: { base_url: http://localhost }
            entities:
              orders:
                fields: { id: { type: string }\(fields) }
                pull: { path: /orders, deleted: \(mark) }
            """
        return try #require(try EntitySchema(yaml: yaml, file: "shop.yaml")["orders"])
    }

    @Test(
        "a mark is a member, also with quotes or dots in its name, a place inside one, or a field with from",
        arguments: [
            ("deleted_at", #"{"id":"a","deleted_at":"2026-11-25"}"#),
            (#""@removed""#, #"{"id":"a","@removed":{"reason":"deleted"}}"#),
            (#"'"@removed"'"#, #"{"id":"a","@removed":{"reason":"deleted"}}"#),
            (#"'"odata.removed"'"#, #"{"id":"a","odata.removed":true}"#),
            ("attributes.deleted_at", #"{"id":"a","attributes":{"deleted_at":"2026-11-25"}}"#),
            ("gone_at", #"{"id":"a","attributes":{"gone":"2026-11-25"}}"#),
        ])
    func placed(_ mark: String, _ record: String) throws {
        let orders = try entity(mark, fields: ", gone_at: { type: time, from: attributes.gone }")
        #expect(orders.isDeleted(try JSONText(parsing: record)))
        #expect(!orders.isDeleted(try JSONText(parsing: #"{"id":"a","attributes":{"deleted_at":null,"gone":null}}"#)))
        #expect(!orders.isDeleted(try JSONText(parsing: #"{"id":"a"}"#)))
    }

    @Test(
        "a mark through a list, or with a quote that is not closed, is refused",
        arguments: ["tags.*.gone", #"'"gone'"#])
    func refused(_ mark: String) {
        #expect(throws: SchemaError.self) { try entity(mark) }
    }
}

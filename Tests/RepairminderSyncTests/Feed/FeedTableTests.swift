import JSONText
import Testing

@testable import repairminder_sync

@Suite struct FeedTableTests {
    private static func entity(_ fields: String, key: String = "id") throws -> FeedEntity {
        let text =
            #"{"name": "orders", "key": "\#(key)", "fields": [{"name": "\#(key)", "type": "string"}, \#(fields)]}"#
        return try #require(FeedEntity(try JSONText(parsing: text)))
    }

    private static func columns(_ table: FeedTable) -> [String] {
        table.columns.map { "\($0.name) \($0.type.rawValue)" }
    }

    @Test("secret and sealed fields have no column, and a sealed value is no part of the record")
    func hiddenFields() throws {
        let entity = try Self.entity(
            """
            {"name": "pin", "type": "string", "secret": true}, {"name": "street", "type": "string", "sealed": true, \
            "from": "address.lines.0.street"}, {"name": "total", "type": "money"}
            """)
        #expect(entity.fields.map(\.name) == ["total"])
        let record = try JSONText(
            parsing:
                #"{"id": "a", "street": "x", "address": {"lines": [{"street": "y", "no": 1}]}, "_sync": {}, "z": 1}"#)
        let fed = entity.fed(record)
        #expect(fed.members.map(\.key) == ["id", "address", "z"])
        #expect(fed["address"]?["lines"]?.elements.map { $0.members.map(\.key) } == [["no"]])
    }

    @Test("a new table has a column for each field, and none has a name of the feed or of PostgreSQL")
    func newTable() throws {
        let entity = try Self.entity(
            """
            {"name": "total", "type": "money"}, {"name": "record", "type": "string"}, {"name": "xmin", "type": "integer"}, \
            {"name": "record_field", "type": "list"}
            """)
        var table = FeedTable.new(entity, keepsHistory: false)
        let added = table.complete(known: [], taken: [])
        #expect(table.key == "id" && added == table.columns)
        #expect(
            Self.columns(table) == [
                "total numeric", "record_field text", "xmin_field bigint", "record_field_field jsonb",
            ])
        #expect(FeedTable.new(try Self.entity("{}", key: "instance"), keepsHistory: false).key == "instance_field")
    }

    @Test("a field of another type gets one more column, and the old one stays filled")
    func otherType() throws {
        let old = FeedTable.Column(name: "total", field: "total", source: nil, type: .numeric)
        var table = FeedTable.new(try Self.entity(#"{"name": "total", "type": "string"}"#), keepsHistory: false)
        let added = table.complete(known: [old], taken: ["total", "id"])
        #expect(added.map(\.name) == ["total_text"])
        #expect(Self.columns(table) == ["total numeric", "total_text text"])
        // The next time nothing is missing.
        #expect(table.complete(known: table.columns, taken: ["total", "total_text", "id"]).isEmpty)
    }

    @Test("the column of a removed field stays, and has what the record has")
    func removedField() throws {
        let old = FeedTable.Column(name: "note", field: "note", source: nil, type: .text)
        var table = FeedTable.new(try Self.entity(#"{"name": "total", "type": "money"}"#), keepsHistory: false)
        _ = table.complete(known: [old], taken: ["note", "id"])
        #expect(Self.columns(table) == ["total numeric", "note text"])
        let column = try #require(table.columns.last)
        #expect(column.parameter(of: .object(["note": "x"])) == Array("x".utf8))
        #expect(column.parameter(of: .object(["id": "a"])) == nil)
    }

    @Test("a name of someone else's column is not taken, and a long name leaves room for its type")
    func takenNames() throws {
        let long = String(repeating: "a", count: 60)
        let entity = try Self.entity(#"{"name": "total", "type": "money"}, {"name": "\#(long)", "type": "time"}"#)
        var table = FeedTable.new(entity, keepsHistory: false)
        let old = FeedTable.Column(name: long, field: long, source: nil, type: .text)
        let added = table.complete(known: [old], taken: ["total", "total_field", long])
        #expect(added.map(\.name) == ["total_field_2", String(repeating: "a", count: 51) + "_timestamptz"])
    }

    @Test("the value of a field with a source is found there, unless a member has the field's name")
    func sources() throws {
        let entity = try Self.entity(#"{"name": "client_id", "type": "reference", "from": "client.id"}"#)
        var table = FeedTable.new(entity, keepsHistory: false)
        _ = table.complete(known: [], taken: [])
        let column = try #require(table.columns.first)
        let nested = JSONText.object(["client": .object(["id": 7])])
        #expect(column.parameter(of: nested) == Array("7".utf8))
        #expect(column.parameter(of: nested.setting("client_id", to: "c")) == Array("c".utf8))
    }
}

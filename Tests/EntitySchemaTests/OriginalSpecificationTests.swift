import JSONText
import TestSupport
import Testing

@testable import EntitySchema

/// The tables of fields of the original specification, each as the schema `repairminder` has it.
@Suite("The original specification's tables of fields")
struct OriginalSpecificationTests {
    private let schema: EntitySchema

    init() throws {
        schema = try ProjectFiles.schema("repairminder")
    }

    /// Expects each field with its type, and no others but those that are computed here.
    private func expect(_ name: String, _ fields: KeyValuePairs<String, String>) throws {
        let entity = try #require(schema[name])
        for (field, type) in fields {
            #expect(entity[field: field]?.kind.word == type, "\(name).\(field)")
        }
        let others = entity.fields.filter { field in !fields.contains { $0.key == field.name } }
        let given = others.filter { !$0.isComputedOnReading }
        #expect(given.isEmpty, "\(name): \(given.map(\.name))")
    }

    private func values(of field: String, in name: String) -> [String] {
        guard case .enum(let values) = schema[name]?[field: field]?.kind else { return [] }
        return values.map(\.value)
    }

    private func shown(_ name: String, _ field: String, _ record: String) throws -> String? {
        try schema[name]?.value(of: field, in: JSONText(parsing: record))?.text
    }

    @Test("orders")
    func orders() throws {
        try expect(
            "orders",
            [
                "id": "string", "order_number": "integer", "status": "enum", "total": "money", "deposit": "money",
                "balance": "money", "notes": "string", "client_id": "reference", "client_name": "string",
                "client_email": "string", "client_phone": "string", "location_id": "string",
                "location_name": "string", "assigned_user_id": "string", "assigned_user_name": "string",
                "device_count": "integer", "created_at": "time", "updated_at": "time",
            ])
        let active = ["booked_in", "in_progress", "awaiting_parts", "ready"]
        #expect(values(of: "status", in: "orders") == active + ["collected", "cancelled"])
        for status in values(of: "status", in: "orders") {
            let isActive = try shown("orders", "is_active", #"{"status":"\#(status)"}"#)
            #expect(isActive == "\(active.contains(status))", "\(status)")
        }
        #expect(try shown("orders", "display_ref", #"{"order_number":1486}"#) == ##""#1486""##)
        for (balance, isPaid) in [("0.00", true), ("-1.00", true), ("0.01", false)] {
            #expect(try shown("orders", "is_paid", #"{"balance":\#(balance)}"#) == "\(isPaid)")
        }
    }

    @Test("devices")
    func devices() throws {
        try expect(
            "devices",
            [
                "id": "string", "order_id": "reference", "type": "string", "brand": "string", "model": "string",
                "serial": "string", "imei": "string", "passcode": "string", "status": "enum", "issue": "string",
                "diagnosis": "string", "resolution": "string", "price": "money", "assigned_user_id": "string",
                "assigned_user_name": "string", "created_at": "time", "updated_at": "time",
            ])
        #expect(schema["devices"]?.fields.filter(\.secret).map(\.name) == ["passcode"])
        let active = [
            "booked_in", "diagnosing", "awaiting_approval", "approved", "in_repair", "awaiting_parts", "repaired",
            "quality_check", "ready",
        ]
        #expect(values(of: "status", in: "devices") == active + ["collected", "unrepairable"])
        for status in values(of: "status", in: "devices") {
            let isActive = try shown("devices", "is_active", #"{"status":"\#(status)"}"#)
            #expect(isActive == "\(active.contains(status))", "\(status)")
        }
        let named = #"{"type":"Phone","brand":"Apple","model":"iPhone SE"}"#
        #expect(try shown("devices", "display_name", named) == #""Apple iPhone SE""#)
        #expect(try shown("devices", "display_name", #"{"type":"Phone"}"#) == #""Phone""#)
    }

    @Test("clients")
    func clients() throws {
        try expect(
            "clients",
            [
                "id": "string", "email": "string", "first_name": "string", "last_name": "string", "phone": "string",
                "company": "string", "address": "string", "city": "string", "postcode": "string", "notes": "string",
                "order_count": "integer", "total_spent": "money", "created_at": "time", "updated_at": "time",
            ])
        let named = #"{"email":"ada@example.org","first_name":"Ada","last_name":"Byron"}"#
        #expect(try shown("clients", "full_name", named) == #""Ada Byron""#)
        #expect(try shown("clients", "initials", named) == #""AB""#)
        #expect(try shown("clients", "full_name", #"{"email":"ada@example.org"}"#) == #""ada@example.org""#)
        #expect(try shown("clients", "initials", #"{"email":"ada@example.org"}"#) == #""AD""#)
    }

    @Test("tickets")
    func tickets() throws {
        try expect(
            "tickets",
            [
                "id": "string", "ticket_number": "integer", "subject": "string", "status": "enum",
                "priority": "string", "client_id": "reference", "client_email": "string", "client_name": "string",
                "assigned_user_id": "string", "assigned_user_name": "string", "order_id": "reference",
                "order_ref": "string", "message_count": "integer", "last_message_at": "time", "created_at": "time",
                "updated_at": "time",
            ])
        #expect(values(of: "status", in: "tickets") == ["open", "pending", "closed"])
    }

    @Test("ticket_messages")
    func ticketMessages() throws {
        try expect(
            "ticket_messages",
            [
                "id": "string", "ticket_id": "reference", "content": "string", "sender_type": "enum",
                "sender_name": "string", "sender_id": "string", "is_internal": "boolean", "created_at": "time",
            ])
        #expect(values(of: "sender_type", in: "ticket_messages") == ["staff", "client"])
    }

    @Test("dashboard")
    func dashboard() {
        let names = ["devices", "revenue", "clients", "new_clients", "returning_clients"]
        #expect(schema.dashboard?.figures.map(\.name) == names)
        #expect(schema.dashboard?.path == "/api/dashboard/stats")
        let sums = schema.dashboard?.figures.filter { if case .sum = $0.measure { true } else { false } }
        #expect(sums?.map(\.name) == ["revenue"])
    }

    @Test(
        "indexed",
        arguments: [
            ("orders", ["order_number", "status", "client_id"]), ("devices", ["order_id", "status"]),
            ("clients", ["email"]), ("tickets", ["ticket_number", "status"]),
        ])
    func indexed(_ name: String, _ fields: [String]) {
        for field in fields { #expect(schema[name]?[field: field]?.indexed == true, "\(name).\(field)") }
    }

    @Test("relations")
    func relations() {
        #expect(
            schema["orders"]?[relation: "devices"]
                == Relation(name: "devices", entity: "devices", kind: .many(field: "order_id", onDelete: .keep)))
        #expect(
            schema["orders"]?[relation: "client"]
                == Relation(name: "client", entity: "clients", kind: .one(field: "client_id")))
        #expect(
            schema["clients"]?[relation: "orders"]
                == Relation(name: "orders", entity: "orders", kind: .many(field: "client_id", onDelete: .keep)))
        #expect(
            schema["tickets"]?[relation: "messages"]
                == Relation(
                    name: "messages", entity: "ticket_messages", kind: .many(field: "ticket_id", onDelete: .cascade),
                    isRuled: true))
    }
}

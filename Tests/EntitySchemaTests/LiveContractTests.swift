import EntitySchema
import JSONText
import TestSupport
import Testing

/// The live schema against what is known of the service, file by file.
@Suite("The live schema and the service's documents")
struct LiveContractTests {
    private let schema: EntitySchema
    private let shapes: LiveShapes

    init() throws {
        schema = try ProjectFiles.schema("repairminder-live")
        shapes = try LiveShapes()
    }

    private static let requests = [
        "POST /api/orders": "order-create-request", "PATCH /api/orders/{id}": "order-patch-request",
        "POST /api/orders/{order_id}/items": "order-item-create-request",
        "PATCH /api/orders/{order_id}/items/{id}": "order-item-patch-request",
        "POST /api/orders/{order_id}/payments": "order-payment-create-request",
        "POST /api/orders/{order_id}/devices": "device-create-request",
        "PATCH /api/orders/{order_id}/devices/{id}": "device-patch-request",
        "PATCH /api/orders/{order_id}/devices/{id}/status": "device-status-patch-request",
        "POST /api/orders/{device.order_id}/devices/{device_id}/parts": "device-part-create-request",
        "POST /api/orders/{device.order_id}/devices/{device_id}/accessories": "device-accessory-create-request",
        "POST /api/orders/{device.order_id}/devices/{device_id}/images": "device-image-create-request",
        "PATCH /api/orders/{device.order_id}/devices/{device_id}/images/{id}": "device-image-patch-request",
        "POST /api/clients": "client-create-request", "PATCH /api/clients/{id}": "client-patch-request",
        "POST /api/tickets/{ticket_id}/reply": "ticket-reply-request",
        "POST /api/tickets/{ticket_id}/note": "ticket-note-request",
        "POST /api/tickets/{id}/reassign": "ticket-reassign-request",
        "POST /api/tickets/{ticket_id}/macro": "ticket-macro-request",
        "PATCH /api/macro-executions/{id}/pause": "macro-execution-pause-request",
        "PATCH /api/macro-executions/{id}/resume": "macro-execution-resume-request",
    ]

    /// Of attachments nothing is known that could be sent, and the status is that of the ticket, which is edited by itself.
    private static let unsent = ["ticket-reply-request": ["pending_attachment_ids", "status"]]

    /// Sent with more than is documented.
    private static let unchecked = ["PATCH /api/tickets/{id}", "DELETE /api/macro-executions/{id}"]

    @Test("every request can have all members that the service takes, and no others")
    func names() throws {
        var seen: Set<String> = []
        for entity in schema.entities {
            for route in entity.push.create + entity.push.update {
                guard !Self.unchecked.contains(route.call) else { continue }
                let name = try #require(Self.requests[route.call], "\(route.call)")
                let known = Set(try shapes[name].members.map(\.key))
                let sent = try #require(route.wireNames).union([route.file].compactMap(\.self))
                #expect(sent.isSubset(of: known), "\(route.call): \(sent.subtracting(known))")
                #expect(known.subtracting(sent) == Set(Self.unsent[name] ?? []), "\(route.call)")
                seen.insert(route.call)
            }
        }
        #expect(seen == Set(Self.requests.keys))
    }

    @Test("every call of the sign-in sends what the service wants")
    func signIn() throws {
        let password = try #require(schema.upstream.login.first { $0.name == "password" })
        var known: Set<String> = []
        for (call, name) in zip(
            password.steps, ["auth-login-request", "auth-2fa-request-request", "auth-2fa-verify-request"])
        {
            let sent = Set(call.send + call.questions.map(\.name))
            #expect(sent == Set(try shapes[name].members.map(\.key)), "\(call.path)")
            known.formUnion(sent)
        }
        #expect(known == ["email", "password", "userId", "code"])
    }

    private static let views = [
        "clients": ["clients-list", "client-single"], "orders": ["orders-list", "order-single"],
        "devices": ["devices-list", "device-single"], "tickets": ["tickets-list", "ticket-single"],
        "locations": ["locations-list"], "device_types": ["device-types-list"], "macros": ["macros-list"],
        "buyback": ["buyback-list", "buyback-single"], "users": ["users-list"],
        "product_types": ["product-types-list"], "macro_executions": ["macro-executions-list"],
    ]

    @Test("lists and single records are where the schema looks for them, and each field stands in one or is sent")
    func fields() throws {
        for (name, files) in Self.views {
            let entity = try #require(schema[name])
            let pull = try #require(entity.pull)
            let list = try #require(pull.list.records.value(in: try shapes[files[0]])?.elements.first, "\(name)")
            let single = try files.dropFirst().map { try #require(pull.single.place.value(in: try shapes[$0])) }
            #expect(list[entity.key]?.string?.isEmpty == false)
            let sent = Set((entity.push.create + entity.push.update).flatMap { $0.sendable ?? [] })
            for field in entity.fields {
                let isShown = ([list] + single).contains { entity.value(of: field.name, in: $0) != nil }
                #expect(isShown || sent.contains(field.name), "\(name).\(field.name)")
            }
        }
    }

    @Test("what the service has as a day is a date, so that any other text is refused before it is sent")
    func days() throws {
        let days = [
            ("order_payments", "payment_date"), ("order_refunds", "refund_date"), ("orders", "ready_by_date"),
            ("devices", "warranty_expiry_date"), ("buyback", "purchase_date"), ("buyback", "sale_date"),
        ]
        for (name, field) in days { #expect(schema[name]?[field: field]?.kind == .date, "\(name).\(field)") }
    }

    @Test("what only an older note shows is not written: that Find My is off")
    func findMy() {
        #expect(schema["devices"]?[field: "find_my_status"]?.enumValues == ["disabled", "enabled", "unknown"])
    }

    @Test("people are read from either form of their list, of which no source says which it is")
    func people() throws {
        let list = try #require(schema["users"]?.pull?.list)
        for answer in [#"{"success":true,"data":[{"id":"u"}]}"#, #"{"success":true,"data":{"users":[{"id":"u"}]}}"#] {
            #expect(list.found(in: try JSONText(parsing: answer))?.elements.first?["id"] == "u", "\(answer)")
        }
    }

    @Test("the children in a single record have the fields of their entity")
    func children() throws {
        let files = [
            ("orders", "order-single"), ("devices", "device-single"), ("tickets", "ticket-single"),
            ("buyback", "buyback-single"),
        ]
        for (name, file) in files {
            let pull = try #require(schema[name]?.pull)
            let record = try #require(pull.single.place.value(in: try shapes[file]))
            for detail in pull.details {
                let entity = try #require(schema[detail.entity])
                let children = try #require(detail.list.records.value(in: record)?.elements, "\(detail.entity)")
                let sent = Set((entity.push.create + entity.push.update).flatMap { $0.sendable ?? [] })
                for field in entity.fields where field.name != detail.by && !sent.contains(field.name) {
                    #expect(
                        children.contains { entity.value(of: field.name, in: $0) != nil },
                        "\(entity.name).\(field.name)")
                }
            }
        }
    }
}

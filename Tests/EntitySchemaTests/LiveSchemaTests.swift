import Foundation
import JSONText
import TestSupport
import Testing

@testable import EntitySchema

@Suite("The live shape of Repair Minder")
struct LiveSchemaTests {
    private let schema: EntitySchema

    init() throws {
        schema = try ProjectFiles.schema("repairminder-live")
    }

    @Test("records are in four places: beside the paging, below data under two names, and inside a ticket")
    func places() throws {
        let places = try ["orders", "clients", "tickets"].map { try #require(schema[$0]?.pull?.list.records.paths) }
        #expect(places == [["data"], ["data.clients"], ["data.tickets"]])
        let detail = try #require(schema["tickets"]?.pull?.details.first)
        #expect(detail.list.records.paths == ["messages"] && detail.isInSingle && detail.entity == "ticket_messages")
        #expect(detail.by == "ticket_id")
    }

    @Test("a route can send the fields that it lists, also as HTML, and no others; without a list it can send any")
    func sendable() {
        var listed = 0
        for entity in schema.entities {
            for route in entity.push.create + entity.push.update + entity.push.delete {
                for field in entity.fields.map(\.name) + ["unknown"] {
                    #expect(route.canSend(field) == (route.sendable?.contains(field) ?? true), "\(route.call) \(field)")
                    listed += route.sendable == nil ? 0 : 1
                }
            }
        }
        #expect(listed > 0)
    }

    @Test("the number of pages is read under both names")
    func pages() throws {
        let list = try #require(schema["tickets"]?.pull?.list)
        guard case .page(_, let pages) = list.style else {
            Issue.record("expected pages counted from 1")
            return
        }
        for name in ["totalPages", "total_pages"] {
            let answer = try JSONText(parsing: #"{"data":{"\#(name)":7}}"#)
            #expect(pages?.value(in: answer)?.integer == 7)
        }
    }

    @Test("tickets are pulled newest first; clients, devices, and orders with their devices' status, in full")
    func modes() {
        #expect(schema["orders"]?.pull?.mode == .full)
        #expect(
            schema["orders"]?.pull?.query
                == [QueryItem(name: "sort", value: "created_at"), QueryItem(name: "order", value: "desc")])
        #expect(schema["tickets"]?.pull?.mode == .newestFirst)
        #expect(schema["clients"]?.pull?.mode == .full && schema["devices"]?.pull?.mode == .full)
    }

    @Test("nested values are read from their place")
    func nested() throws {
        let orders = try #require(schema["orders"])
        let order = try JSONText(parsing: #"{"id":"o","client":{"id":"c","first_name":"Ada"},"location":null}"#)
        #expect(orders.value(of: "client_id", in: order) == "c")
        #expect(orders.value(of: "client_first_name", in: order) == "Ada")
        #expect(orders.value(of: "location_id", in: order) == nil)
    }

    @Test("a device is read and changed below its order, its status by a separate call")
    func devices() throws {
        let devices = try #require(schema["devices"])
        let device = try JSONText(parsing: #"{"id":"d","order_id":"o","status":"diagnosing"}"#)
        #expect(devices.recordPath(of: device) == "/api/orders/o/devices/d")
        let status = devices.request(for: .update, record: device, body: .object(["status": "ready_to_quote"]))
        #expect(status?.path == "/api/orders/o/devices/d/status")
        let diagnosis = devices.request(for: .update, record: device, body: .object(["diagnosis_notes": "lint"]))
        #expect(diagnosis?.path == "/api/orders/o/devices/d")
        #expect(devices.request(for: .delete, record: device, body: .object([:]))?.method == "DELETE")
    }

    @Test("a time in any zone is sent in UTC, without milliseconds, as the app sends it")
    func times() throws {
        let places = [("devices", "due_date"), ("orders", "portal_access_expires_at")]
        for (name, field) in places {
            let entity = try #require(schema[name])
            let record = try JSONText(parsing: #"{"id":"r","order_id":"o"}"#)
            let body = JSONText.object([field: "2026-12-01T00:30:00.500+01:00"])
            let sent = entity.request(for: .update, record: record, body: body)
            #expect(sent?.body?[field] == "2026-11-30T23:30:00Z", "\(name)")
        }
        let order = JSONText.object(["client_email": "a@example.org", "ready_by": "2026-12-01 09:00"])
        let made = try #require(schema["orders"]).request(for: .create, record: order, body: order)
        #expect(made?.body?["ready_by"] == "2026-12-01T09:00:00Z")
    }

    @Test("a step of a device is sent after the other fields of its edit, in any order of writing")
    func stepLast() throws {
        let devices = try #require(schema["devices"])
        let device = try JSONText(parsing: #"{"id":"d","order_id":"o","status":"diagnosing"}"#)
        let edits = [
            ["status", "status_notes", "diagnosis_notes", "colour"],
            ["diagnosis_notes", "status", "colour", "status_notes"],
        ]
        for edit in edits {
            let (parts, unsendable) = devices.parts(of: edit.map { (key: $0, value: "x") }, record: device)
            #expect(parts.map { $0.map(\.key) } == [["diagnosis_notes", "colour"], ["status", "status_notes"]])
            #expect(unsendable == nil)
        }
    }

    @Test("a step that requires notes is sent with them, and a new device with its accessories")
    func devicesWithMore() throws {
        let devices = try #require(schema["devices"])
        let device = try JSONText(parsing: #"{"id":"d","order_id":"o","status":"diagnosing"}"#)
        let step = JSONText.object(["status": "company_rejected", "status_notes": "no parts"])
        let sent = devices.request(for: .update, record: device, body: step)
        #expect(sent?.path == "/api/orders/o/devices/d/status")
        #expect(sent?.body == .object(["status": "company_rejected", "notes": "no parts"]))
        let placedStep = step.setting("status_context", to: "device_page")
        let placed = devices.request(for: .update, record: device, body: placedStep)
        #expect(placed?.body?["context"] == "device_page")
        let accessories = JSONText.array([.object(["accessory_type": "charger"])])
        let new = JSONText.object(["custom_brand": "Acme", "new_accessories": accessories])
        let made = devices.request(for: .create, record: new.setting("order_id", to: "o"), body: new)
        #expect(made?.body == .object(["custom_brand": "Acme", "accessories": accessories]))
    }

    @Test("a note has a body, and a reply is sent as text and as HTML")
    func messages() throws {
        let messages = try #require(schema["ticket_messages"])
        let sent: [(type: String, path: String, body: JSONText)] = [
            ("note", "/api/tickets/t/note", .object(["body": "1 < 2\n& so"])),
            (
                "outbound", "/api/tickets/t/reply",
                .object(["text_body": "1 < 2\n& so", "html_body": "<div>1 &lt; 2<br>&amp; so</div>"])
            ),
        ]
        for (type, path, body) in sent {
            let message = JSONText.object([
                "id": "m", "ticket_id": "t", "body_text": "1 < 2\n& so", "type": .string(type),
            ])
            let request = messages.request(for: .create, record: message, body: message)
            #expect(request?.path == path)
            #expect(request?.body == body)
        }
    }

    @Test(
        "what means something in HTML is escaped, also before a mark that combines with it, and every line end is one break"
    )
    func html() throws {
        let messages = try #require(schema["ticket_messages"])
        let message = JSONText.object([
            "id": "m", "ticket_id": "t", "type": "outbound", "body_text": "<\u{338}b> & \"'\r\n\n\u{2028}é",
        ])
        let request = messages.request(for: .create, record: message, body: message)
        #expect(
            request?.body?["html_body"]
                == "<div>&lt;\u{338}b&gt; &amp; &quot;&#39;<br><br><br>é</div>")
    }

    @Test("a new order is sent under the service's names")
    func newOrder() throws {
        let orders = try #require(schema["orders"])
        let order = JSONText.object(["client_email": "a@b.c", "client_first_name": "A", "note": "N"])
        let request = orders.request(for: .create, record: order, body: order)
        #expect(
            request?.body
                == .object(["client_email": "a@b.c", "client_first_name": "A", "notes": "N"]))
        #expect(orders.push.create.first?.canSend("client_id") == false)
    }

    @Test("a lost order is looked for at its location by the client's email address, or name and telephone")
    func lostOrder() throws {
        let orders = try #require(schema["orders"])
        func compared(_ order: JSONText) -> [String]? {
            let route = orders.route(for: .create, record: order)
            guard case .match(let fields, _, _) = route?.lookUp else { return nil }
            return fields
        }
        #expect(compared(.object(["client_email": "a@b.c"])) == ["client_email", "intake_method", "location_id"])
        #expect(
            compared(.object(["no_email": true]))
                == ["client_first_name", "client_last_name", "client_phone", "intake_method", "location_id"])
    }

    @Test("an order's note is looked for among the notes that the list shows with each order")
    func lostNote() throws {
        let listed = try JSONText(parsing: #"{"notes":[{"body":"Came by post","created_by":null},{"body":"Cracked"}]}"#)
        for route in try #require(schema["orders"]).push.create {
            #expect(route.shownAmong["note"]?.value(in: listed) == .array(["Came by post", "Cracked"]))
        }
    }

    /// The fields by which a lost creation is looked for.
    private func compared(_ name: String, _ record: JSONText) throws -> [String]? {
        let route = try #require(schema[name]).route(for: .create, record: record)
        guard case .match(let fields, _, _) = route?.lookUp else { return nil }
        return fields
    }

    @Test("a lost line item or payout is looked for without the amount, which the service changes")
    func lostMoney() throws {
        #expect(
            try compared("order_items", .object(["description": "Screen"])) == ["description", "quantity", "device_id"])
        #expect(
            try compared("order_payments", .object(["is_payout": true]))
                == ["payment_method", "payment_date", "device_id", "notes"])
        #expect(
            try compared("order_payments", .object(["is_payout": false]))
                == ["amount", "payment_method", "payment_date", "notes"])
    }

    @Test("a lost client is looked for by the name as well, since the service refuses a second one with its address")
    func lostClient() throws {
        #expect(
            try compared("clients", .object(["email": "ada@example.org"])) == ["email", "first_name", "last_name"])
    }

    @Test("what tells a record from a colleague's of the same day counts when a lost one is looked for")
    func lostAmongAlike() throws {
        let note = JSONText.object(["type": "note", "ticket_id": "t", "body_text": "Ready"])
        #expect(try compared("ticket_messages", note)?.contains("device_id") == true)
        let device = try #require(try compared("devices", .object(["order_id": "o", "brand_id": "b"])))
        #expect(["brand_id", "model_id", "device_type_id"].allSatisfy(device.contains))
    }

    @Test("a ticket is changed by one call and reassigned by another")
    func tickets() throws {
        let tickets = try #require(schema["tickets"])
        let ticket = try JSONText(parsing: #"{"id":"t","status":"resolved"}"#)
        let changed = tickets.request(for: .update, record: ticket, body: .object(["status": "resolved"]))
        #expect(changed?.method == "PATCH" && changed?.path == "/api/tickets/t")
        let reassigned = tickets.request(for: .update, record: ticket, body: .object(["assigned_user_id": "u"]))
        #expect(reassigned?.path == "/api/tickets/t/reassign")
    }

    @Test("a running macro is paused and cancelled with a reason or without, and resumed as the caller says")
    func macros() throws {
        let executions = try #require(schema["macro_executions"])
        let steps: [(change: JSONText, call: String, body: JSONText)] = [
            (.object(["status": "paused"]), "PATCH /api/macro-executions/e/pause", .object([:])),
            (
                .object(["status": "paused", "reason": "R"]), "PATCH /api/macro-executions/e/pause",
                .object(["reason": "R"])
            ),
            (.object(["status": "cancelled"]), "DELETE /api/macro-executions/e", .object([:])),
            (
                .object(["status": "cancelled", "reason": "R"]), "DELETE /api/macro-executions/e",
                .object(["reason": "R"])
            ),
            (
                .object(["status": "active", "scheduling_option": "keep_original"]),
                "PATCH /api/macro-executions/e/resume", .object(["scheduling_option": "keep_original"])
            ),
        ]
        for (change, call, body) in steps {
            let request = executions.request(for: .update, record: change.setting("id", to: "e"), body: change)
            let sent = try #require(request).request(schema.upstream, idempotencyKey: "k")
            #expect("\(sent.method) \(sent.path)" == call)
            #expect(sent.body == body)
        }
        #expect(!executions.hasRoute(for: .update, record: .object(["status": "completed"]), fields: ["status"]))
        #expect(executions[field: "status"]?.hasSteps == true, "resuming what was never paused is refused")
    }

    @Test("items, payments and devices are sent in the order of writing, as are a ticket, its messages and macros")
    func order() throws {
        func together(_ name: String) throws -> [String] {
            schema.orderedTogether(with: try #require(schema[name]))
        }
        for name in ["order_items", "order_payments", "devices"] {
            #expect(try together(name) == ["order_items", "order_payments", "devices"])
        }
        #expect(try together("ticket_messages") == ["tickets", "ticket_messages", "macro_executions"])
        #expect(try together("clients") == ["clients"])
    }

    @Test("a refused payment does not hold up the line item that it lacks, while payments wait for a refused item")
    func refusedPayment() {
        let isWaitedFor = schema.entities.filter { $0.orderWithin != nil && $0.holdsUpWhenFailed }.map(\.name)
        #expect(isWaitedFor == ["order_items"])
    }

    @Test("what must be sent with a new line item, payment or device is asked for or given")
    func needed() throws {
        let items = try #require(schema["order_items"])
        #expect(["item_type", "description", "unit_price"].allSatisfy { items[field: $0]?.required == true })
        #expect(schema["order_payments"]?[field: "payment_date"]?.required == true)
        for (entity, field) in [("order_items", "quantity"), ("devices", "workflow_type")] {
            #expect(schema[entity]?[field: field]?.initial?.isSent == true, "\(entity).\(field)")
        }
    }

    @Test("a list whose records have no call of their own is never asked for one of them")
    func noSingles() {
        let lists = schema.entities.filter { $0.pull?.single.isServed == false }.map(\.name)
        #expect(lists == ["device_types", "macro_executions", "product_types"])
    }

    @Test("what the service never shows of what it takes is no drift")
    func writeOnly() {
        let sent = [
            ("order_items", ["price_inc_vat", "is_warranty_item", "warranty_notes", "product_type_id"]),
            ("ticket_messages", ["send_sms", "from_custom_email_id"]),
            ("macro_executions", ["variable_overrides", "send_sms", "scheduling_option", "reason"]),
        ]
        for (entity, fields) in sent {
            #expect(schema[entity]?.fields.filter(\.isWriteOnly).map(\.name) == fields, "\(entity)")
        }
    }

    @Test("texts that the service refuses if they are empty are refused here")
    func filled() {
        for (entity, field) in [("order_items", "description"), ("ticket_messages", "body_text"), ("clients", "email")]
        {
            #expect(schema[entity]?[field: field]?.isNeverEmpty == true, "\(entity).\(field)")
        }
    }

    @Test("every create has a look-up, because there are no idempotency keys")
    func lookUps() {
        #expect(schema.upstream.idempotencyHeader == nil)
        for entity in schema.entities {
            for route in entity.push.create { #expect(route.lookUp != nil, "\(entity.name)") }
        }
    }

    @Test("a look-up without a path searches the entity's list as a pull does")
    func lookUpList() throws {
        let clients = try #require(schema["clients"])
        guard case .match(_, let path, let list) = clients.push.create.first?.lookUp else {
            Issue.record("clients are not looked up by their values")
            return
        }
        #expect(path == nil && list == clients.pull?.list)
    }

    @Test("both shapes have the same sign-in")
    func signIn() throws {
        let design = try ProjectFiles.schema("repairminder")
        #expect(design.upstream.login == schema.upstream.login && design.upstream.refresh == schema.upstream.refresh)
        #expect(schema.upstream.login.map(\.name) == ["password", "magic_link"])
        #expect(schema.upstream.login.first?.questions.map(\.name) == ["email", "password", "code"])
        #expect(schema.upstream.login.first?.questions.map(\.secret) == [false, true, false])
    }
}

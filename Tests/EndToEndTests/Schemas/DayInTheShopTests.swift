import JSONText
import TestSupport
import Testing

/// A whole day of work with the live schema while the upstream cannot be reached, tested with the built commands.
@Suite("A day in the shop, offline", .serialized)
struct DayInTheShopTests {
    @Test("a day of work offline arrives once, and both sides are equal afterwards", .timeLimit(.minutes(10)))
    func story() async throws {
        try await Shop.with("repairminder-live", Shop.userArguments + ["--check-references"]) { shop in
            try await shop.signIn()
            try await openTickets(shop)
            #expect(try await shop.command("sync", "--wait").status == 0)
            let sides = try BothSides(of: shop, schema: "repairminder-live")
            try await sides.expectEqual()
            try await goOffline(shop)
            var day = ShopDay(in: shop)
            try await chooseRecords(&day)
            try await bookIn(&day)
            try await bringDevices(&day)
            try await expectBookedIn(day)
            try await workOnNewOrder(&day)
            await shop.killDaemon()
            try await shop.startDaemon()
            try await expectNothingLost(day)
            try await changeMinds(&day)
            try await workOnKnownRecords(&day)
            try await answerTickets(&day)
            try await takeForbiddenSteps(&day)
            #expect(day.operations >= 30)
            let queued = try await queue(shop)
            #expect(await shop.stopDaemon() == 0)
            _ = try await shop.admin("tokens", "DELETE")
            try await shop.startDaemon()
            #expect(try await queue(shop) == queued)
            try await loseAnswers(shop, at: ["/api/clients", "/api/orders", "/api/tickets"])
            try await shop.gateway.open()
            try await deliver(shop)
            try await settleRefusals(day)
            try await deliver(shop)
            #expect(try await shop.command("sync", "--wait").status == 0)
            try await expectArrived(day, queued)
            try await sides.expectEqual()
            #expect(await shop.stopDaemon() == 0)
        }
    }

    @Test("two alike orders whose answers are lost keep what belongs to each", .timeLimit(.minutes(5)))
    func alike() async throws {
        try await Shop.with("repairminder-live", rows: 10, Shop.userArguments) { shop in
            try await shop.signIn()
            #expect(try await shop.command("sync", "--wait").status == 0)
            try await goOffline(shop)
            var day = ShopDay(in: shop)
            for name in ["first", "second"] {
                try await day.create(
                    name, at: "/v1/orders",
                    #"""
                    {"client_email": "zoe@example.org", "client_first_name": "Zoe", "intake_method": "walk_in",
                     "signature": {"typed_name": "Zoe", "terms_agreed": true}}
                    """#)
                try await day.create(
                    "device of \(name)", at: day["orders", name] + "/devices", #"{"custom_brand": "\#(name)"}"#)
            }
            try await loseAnswers(shop, at: ["/api/orders"])
            try await shop.gateway.open()
            try await deliver(shop)
            #expect(try await shop.command("sync", "--wait").status == 0)
            #expect(try await shop.call("GET", "/v1/pending/count").body["failed"] == 0)
            let devices = try await shop.admin("records/devices").suffix(2)
            #expect(Set(devices.compactMap { $0["order_id"]?.string }).count == 2)
            #expect(try await shop.admin("log").filter { $0["applied"]?.boolean == true }.count == day.operations)
            try await BothSides(of: shop, schema: "repairminder-live").expectEqual()
        }
    }

    /// Opens two tickets at the upstream, as all of the sample shop are closed.
    private func openTickets(_ shop: Shop) async throws {
        for ticket in try await shop.admin("records/tickets").suffix(2) {
            _ = try await shop.admin(
                "records/tickets/\(ticket["id"]?.plain ?? "")", "PATCH", .object(["status": "open"]))
        }
    }

    // MARK: The day

    private func chooseRecords(_ day: inout ShopDay) async throws {
        try await day.know("device", in: "devices?status=authorised_awaiting_parts")
        try await day.know("jumper", in: "devices?status=repaired_qc")
        try await day.know("finished", in: "devices?status=collected")
        try await day.know("given back", in: "devices?status=despatched")
        try await day.know("client", in: "clients")
        for order in ["order", "order with item", "order with payment"] {
            try await day.know(order, in: "orders?payment_status=paid,partial")
        }
        try await day.know("changed item", in: "orders/\(day.key("order"))/items")
        try await day.know("deleted item", in: "orders/\(day.key("order with item"))/items")
        try await day.know("deleted payment", in: "orders/\(day.key("order with payment"))/payments")
        for ticket in ["ticket", "other ticket"] { try await day.know(ticket, in: "tickets?status=open,pending") }
        try await day.know("closed ticket", in: "tickets?status=closed")
        try await day.know("location", in: "locations")
        try await day.know("engineer", in: "users")
        try await day.know("other engineer", in: "users")
    }

    /// Orders of a new client, for the counter and by post, and one of a stranger.
    private func bookIn(_ day: inout ShopDay) async throws {
        try await day.create(
            "new client", at: "/v1/clients",
            #"""
            {"email": "zoe@example.org", "first_name": "Zoe", "last_name": "Marsh", "phone": "+44 7700 900321",
             "address_line_1": "1 Quay", "city": "Leeds", "postcode": "LS1 1AA", "country": "United Kingdom"}
            """#)
        try await day.create(
            "new order", at: "/v1/orders",
            #"""
            {"client_email": "zoe@example.org", "client_first_name": "Zoe", "client_last_name": "Marsh",
             "intake_method": "walk_in", "location_id": "{location}", "note": "Screen is cracked",
             "signature": {"typed_name": "Zoe Marsh", "signature_method": "typed", "terms_agreed": true}}
            """#)
        try await day.create(
            "second order", at: "/v1/orders",
            #"""
            {"client_email": "zoe@example.org", "client_first_name": "Zoe", "client_last_name": "Marsh",
             "intake_method": "mail_in", "location_id": "{location}",
             "signature": {"typed_name": "Zoe Marsh", "signature_method": "typed", "terms_agreed": true}}
            """#)
        try await day.create(
            "order of a stranger", at: "/v1/orders",
            #"""
            {"client_email": "stranger@example.org", "client_first_name": "Max", "intake_method": "walk_in",
             "location_id": "{location}", "note": "Calls back",
             "signature": {"typed_name": "Max", "signature_method": "typed", "terms_agreed": true}}
            """#)
    }

    private func bringDevices(_ day: inout ShopDay) async throws {
        try await day.create(
            "phone", at: day["orders", "new order"] + "/devices",
            #"""
            {"custom_brand": "Fairphone", "custom_model": "5", "serial_number": "FP-1", "colour": "Black",
             "passcode": "1234", "passcode_type": "pin", "customer_reported_issues": "Cracked screen",
             "workflow_type": "repair"}
            """#)
        try await day.create(
            "tablet", at: day["orders", "new order"] + "/devices",
            #"{"custom_brand": "Apple", "custom_model": "iPad", "workflow_type": "repair"}"#)
        try await day.create(
            "laptop", at: day["orders", "second order"] + "/devices",
            #"{"custom_brand": "Framework", "custom_model": "13", "workflow_type": "repair"}"#)
    }

    private func workOnNewOrder(_ day: inout ShopDay) async throws {
        let order = day["orders", "new order"]
        try await day.create(
            "repair", at: order + "/items",
            #"""
            {"item_type": "repair", "description": "Screen", "quantity": 1, "unit_price": 79.50, "vat_rate": 20,
             "device_id": "{phone}"}
            """#)
        try await day.create(
            "charger", at: order + "/items",
            #"{"item_type": "accessory", "description": "Charger", "quantity": 2, "unit_price": 10, "vat_rate": 20}"#)
        try await day.create(
            "deposit", at: order + "/payments",
            #"{"amount": 20.00, "payment_method": "cash", "payment_date": "2026-11-23", "is_deposit": true}"#)
        try await day.create(
            "mistake", at: order + "/payments",
            #"{"amount": 200.00, "payment_method": "card", "payment_date": "2026-11-23"}"#)
        let phone = day["devices", "phone"]
        try await day.change(
            phone,
            #"{"diagnosis_notes": "Panel broken", "technician_found_issues": "Frame bent", "colour": "Blue"}"#)
        try await day.change(phone, #"{"status": "diagnosing"}"#)
        let quoted = try await day.change(phone, #"{"status": "ready_to_quote"}"#)
        #expect(quoted["status"] == "ready_to_quote" && quoted["colour"] == "Blue" && quoted["passcode"] == nil)
        try await day.change(phone, #"{"passcode": "4321"}"#)
        #expect(try await day.shop.call("GET", "\(phone)?reveal=passcode").body["passcode"] == "4321")
    }

    /// What was made offline is changed and deleted.
    private func changeMinds(_ day: inout ShopDay) async throws {
        try await day.change(day["clients", "new client"], #"{"postcode": "LS2 2BB", "notes": "Rings twice"}"#)
        try await day.correct("new order", #"{"client_phone": "+44 7700 900321", "client_last_name": "Marsh-Hall"}"#)
        try await day.change(day["orders", "second order"], #"{"carrier": "DPD", "tracking_number": "DPD 1"}"#)
        try await day.change(day["order_items", "repair"], #"{"unit_price": 84.50}"#)
        try await day.delete(day["order_items", "charger"])
        try await day.delete(day["order_payments", "mistake"])
        try await day.delete(day["devices", "tablet"])
        try await day.create("visitor", at: "/v1/clients", #"{"email": "visitor@example.org"}"#)
        try await day.delete(day["clients", "visitor"])
    }

    private func workOnKnownRecords(_ day: inout ShopDay) async throws {
        let order = day["orders", "order"]
        let before = try await day.record("orders", "order")["updated_at"]?.string ?? ""
        let changed = try await day.change(
            order, #"{"assigned_user_id": "{engineer}", "ready_by_date": "2026-11-30", "intake_method": "courier"}"#)
        #expect(changed["updated_at"]?.string ?? "" > before)
        try await day.create(
            "watch", at: order + "/devices",
            #"{"custom_brand": "Casio", "custom_model": "F-91W", "workflow_type": "repair"}"#)
        try await day.create(
            "strap", at: order + "/items",
            #"{"item_type": "part", "description": "Strap", "quantity": 1, "unit_price": 5, "device_id": "{watch}"}"#)
        try await day.create(
            "rest", at: order + "/payments",
            #"{"amount": 6.00, "payment_method": "card", "payment_date": "2026-11-23", "device_id": "{watch}"}"#)
        try await day.change(day["order_items", "changed item"], #"{"description": "Repair and cleaning"}"#)
        try await day.delete(day["order_items", "deleted item"])
        try await day.delete(day["order_payments", "deleted payment"])
        let device = day["devices", "device"]
        try await day.change(
            device, #"{"diagnosis_notes": "Lint in port", "repair_notes": "Cleaned", "priority": "urgent"}"#)
        try await day.change(device, #"{"assigned_engineer_id": "{engineer}", "passcode": "0000"}"#)
        try await day.change(device, #"{"status": "ready_to_repair"}"#)
        try await day.change(device, #"{"status": "repairing"}"#)
        try await day.delete(day["devices", "given back"])
        try await day.change(
            day["clients", "client"], #"{"phone": "+44 7700 900999", "address_line_1": "2 Hill", "notes": "Moved"}"#)
    }

    private func answerTickets(_ day: inout ShopDay) async throws {
        let ticket = day["tickets", "ticket"]
        for (name, text) in [("reply", "It is ready.\\n1 < 2 & more"), ("second reply", "Until six.")] {
            try await day.create(name, at: ticket + "/messages", #"{"type": "outbound", "body_text": "\#(text)"}"#)
            #expect(try await day.list("tickets/\(day.key("ticket"))/messages").first == day.key(name))
        }
        try await day.create(
            "note", at: ticket + "/messages",
            #"{"type": "note", "body_text": "Phone is on shelf A", "device_id": "{phone}"}"#)
        try await day.create(
            "last word", at: day["tickets", "other ticket"] + "/messages",
            #"{"type": "outbound", "body_text": "Thank you."}"#)
        let before = try await day.record("tickets", "ticket")["updated_at"]?.string ?? ""
        try await day.change(ticket, #"{"status": "pending"}"#)
        let reassigned = try await day.change(ticket, #"{"assigned_user_id": "{other engineer}"}"#)
        #expect(reassigned["updated_at"]?.string ?? "" > before)
        let reopened = try await day.change(
            day["tickets", "closed ticket"], #"{"status": "open", "assigned_user_id": "{engineer}"}"#)
        #expect(reopened["is_active"] == true)
    }

    /// The upstream refuses both: one is corrected later, the other discarded.
    private func takeForbiddenSteps(_ day: inout ShopDay) async throws {
        try await day.change(day["devices", "jumper"], #"{"status": "collected", "repair_notes": "Tested"}"#)
        try await day.change(day["devices", "finished"], #"{"status": "diagnosing"}"#)
    }

    // MARK: What readers see meanwhile

    private func expectBookedIn(_ day: ShopDay) async throws {
        let first = try day.key("new order")
        let newest = try [day.key("order of a stranger"), day.key("second order"), first]
        #expect(try await day.list("orders?limit=3") == newest)
        let order = try await day.record("orders", "new order")
        let time = try #require(order["created_at"]?.string)
        #expect(try await day.list("orders?created_at.gte=\(time)").contains(first))
        #expect(try await day.list("orders?status=awaiting_device&limit=3") == newest)
        #expect(try await day.list("orders?sync=pending") == newest)
        #expect(order["display_ref"] ?? .null == .null && order["client_name"] == "Zoe Marsh")
        #expect(order["is_active"] == true && order["is_paid"] == true)
        #expect(order["updated_at"]?.string == time)
        let phone = try await day.record("devices", "phone")
        #expect(phone["display_name"] == "Fairphone 5" && phone["status"] == "device_received")
        #expect(try await day.list("orders/\(first)/devices") == [day.key("tablet"), day.key("phone")])
        #expect(try await day.list("clients?q=zoe+marsh") == [day.key("new client")])
        #expect(try await day.shop.command("pending", "--count").output == "\(day.operations)")
    }

    private func expectNothingLost(_ day: ShopDay) async throws {
        let phone = try await day.record("devices", "phone")
        #expect(phone["status"] == "ready_to_quote" && phone["technician_found_issues"] == "Frame bent")
        #expect(try await day.list("orders/\(day.key("new order"))/items").count == 2)
        #expect(try await day.list("orders/\(day.key("new order"))/payments").count == 2)
        #expect(try await day.list("orders?sync=pending").count == 3)
    }

    // MARK: Afterwards

    /// The queued changes, oldest first: what each changes, and how.
    private func queue(_ shop: Shop) async throws -> [String] {
        try await shop.call("GET", "/v1/pending?limit=1000").body["data"]?.elements.map {
            "\($0["id"]?.plain ?? "") \($0["operation"]?.plain ?? "") \($0["entity"]?.plain ?? "") \($0["fields"]?.text ?? "")"
        } ?? []
    }

    /// The daemon has noticed it, so no attempt is cut off.
    private func goOffline(_ shop: Shop) async throws {
        await shop.gateway.close()
        #expect(try await shop.command("sync", "--wait").status != 0)
    }

    /// The upstream applies the first three writes below each of these paths, and cuts the answers off.
    private func loseAnswers(_ shop: Shop, at paths: [String]) async throws {
        let rules = paths.map { path in
            JSONText.object(["effect": "cut_body", "method": "POST", "path": .string(path), "next": 3])
        }
        _ = try await shop.admin("faults", "POST", .object(["faults": .array(rules)]))
    }

    /// Syncs until only refused changes and those behind them are left. Three lost answers in a row count as an outage, which
    /// ends a sync with 75.
    private func deliver(_ shop: Shop) async throws {
        for _ in 1...200 {
            let sync = try await shop.command("sync", "--wait")
            #expect([0, 75].contains(sync.status), "\(sync.output)")
            let moving = try await shop.call("GET", "/v1/pending?state=queued,waiting,uploading").body
            if moving["data"]?.elements.isEmpty == true { return }
        }
        Issue.record("changes still wait: \(try await shop.call("GET", "/v1/pending").body.text)")
    }

    private func settleRefusals(_ day: ShopDay) async throws {
        let failed = try await day.shop.call("GET", "/v1/pending?state=failed").body["data"]?.elements ?? []
        try #require(failed.count == 2, "\(failed.map(\.text))")
        let words = [
            "status cannot go from repaired_qc to collected; it may become repaired_ready, ready_to_repair",
            "status cannot go from collected to diagnosing; it is final",
        ]
        for (change, text) in zip(failed, words) {
            #expect(change["state"] == "failed" && change.text.contains(text), "\(change.text)")
        }
        let ids = failed.map { $0["id"]?.plain ?? "" }
        let corrected = try await day.shop.call(
            "PATCH", "/v1/pending/\(ids[0])", .object(["status": "repaired_ready"]))
        #expect(corrected.status == 200, "\(corrected.body.text)")
        #expect(try await day.shop.call("DELETE", "/v1/pending/\(ids[1])").status == 204)
        #expect(try await day.record("devices", "finished")["status"] == "collected")
    }

    /// Each queued change but the discarded one was applied once.
    private func expectArrived(_ day: ShopDay, _ queued: [String]) async throws {
        let log = try await day.shop.admin("log")
        let applied = log.filter { $0["applied"]?.boolean == true }
        #expect(applied.count == queued.count - 1)
        let creations = applied.filter { $0["method"] == "POST" && $0["path"]?.string?.hasSuffix("/reassign") == false }
        #expect(creations.count == queued.filter { $0.contains(" create ") }.count)
        #expect(log.filter { $0["path"] == "/api/auth/refresh" }.map { $0["status"]?.integer } == [200])
        for name in ["phone", "watch", "laptop"] {
            #expect(try await day.record("devices", name).at(path: "_sync.state") == "synced")
        }
        let order = try await day.record("orders", "new order")
        #expect(order["display_ref"]?.string?.hasPrefix("#") == true)
        #expect(try await day.record("devices", "device")["status"] == "repairing")
        #expect(try await day.record("devices", "jumper")["status"] == "repaired_ready")
    }
}

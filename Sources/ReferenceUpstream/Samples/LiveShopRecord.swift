internal import JSONText

/// Converts one record of the sample shop from the `repairminder` schema to the live one.
struct LiveShopRecord {
    let source: JSONText
    /// The client that the record refers to, if any.
    let client: JSONText?
    /// The order that the record refers to, if any.
    let order: JSONText?

    func client(_ random: inout SplitMix64) -> JSONText {
        let isMarketing = flag(0.3, &random)
        return .object(
            members: copies("id", "email", "first_name", "last_name", "phone") + [("country_code", "GB")]
                + [("address_line_1", value("address")), ("country", "United Kingdom")]
                + copies("city", "postcode", "notes") + [("marketing_consent", isMarketing)]
                + [("email_suppressed", random.chance(0.5) ? 0 : false), ("ticket_count", value("ticket_count"))]
                + copies("order_count") + [("total_spend", money("total_spent", &random))]
                + times(["created_at", "updated_at"], &random))
    }

    func order(_ random: inout SplitMix64) -> JSONText {
        let number = value("order_number")
        let status = random.pick(Self.orderStatuses[value("status").plain] ?? ["in_progress"])
        return .object(
            members: [
                ("id", value("id")), ("order_number", random.chance(0.2) ? .string(number.plain) : number),
                ("status", .string(status)), ("payment_status", .string(paymentStatus)),
                ("intake_method", .string(random.pick(["walk_in", "mail_in", "courier"]))),
                ("order_total", money("total", &random)), ("amount_paid", paid(&random)),
                ("balance_due", money("balance", &random)), ("notes", notes),
                ("client", nestedClient("id", "email", "first_name", "last_name", "phone")),
                ("location", nested("location_id", "location_name")),
                ("assigned_user", nested("assigned_user_id", "assigned_user_name")),
                ("authorisation_type", random.chance(0.4) ? "phone" : .null),
                ("portal_access_disabled", flag(0.1, &random)),
            ] + times(["created_at", "updated_at"], &random))
    }

    func item(_ random: inout SplitMix64) -> JSONText {
        .object(
            members: [
                ("id", .string("itm_\(value("id").plain)")), ("order_id", value("id")), ("item_type", "repair"),
                ("description", "Repair"), ("quantity", 1), ("unit_price", money("total", &random)), ("vat_rate", 20),
                ("line_total", value("total")), ("authorization_status", random.chance(0.5) ? "authorized" : .null),
            ] + times(["created_at"], &random))
    }

    /// Nil for an order of which nothing is paid.
    func payment(_ random: inout SplitMix64) -> JSONText? {
        guard pence("total") > pence("balance") else { return nil }
        return .object(
            members: [
                ("id", .string("pay_\(value("id").plain)")), ("order_id", value("id")), ("amount", paid(&random)),
                ("payment_method", .string(random.pick(["cash", "card", "bank_transfer"]))),
                ("payment_date", .string(String(value("created_at").plain.prefix(10)))),
                ("is_deposit", flag(0.2, &random)), ("recorded_by_name", value("assigned_user_name")),
            ] + times(["created_at"], &random))
    }

    /// Nil for an order that was not cancelled.
    func refund() -> JSONText? {
        guard value("status") == "cancelled" else { return nil }
        return .object([
            "id": .string("ref_\(value("id").plain)"), "order_id": value("id"), "amount": value("total"),
            "reason": "Cancelled",
        ])
    }

    func signature() -> JSONText {
        .object([
            "id": .string("sig_\(value("id").plain)"), "order_id": value("id"), "signature_type": "drop_off",
            "has_signature": true, "terms_agreed": 1,
            "typed_name": .string(
                client.map { "\($0["first_name"]?.plain ?? "") \($0["last_name"]?.plain ?? "")" } ?? ""),
        ])
    }

    func device(_ random: inout SplitMix64) -> JSONText {
        let isBuyback = random.chance(0.05)
        let statuses = isBuyback ? Self.buybackStatuses : Self.deviceStatuses
        let status = random.pick(statuses[value("status").plain] ?? ["diagnosing"])
        let type = value("type").plain
        let slug = type.lowercased()
        let (brand, model) = (value("brand"), value("model"))
        return .object(
            members: copies("id", "order_id") + [
                ("display_name", .string("\(brand.plain) \(model.plain)")), ("custom_brand", brand),
                ("custom_model", model), ("colour", .string(random.pick(Self.colours))),
                ("serial_number", value("serial")),
            ] + copies("imei", "passcode") + [
                ("workflow_type", isBuyback ? "buyback" : "repair"), ("status", .string(status)),
                ("priority", .string(random.pick(["normal", "urgent"]))), ("customer_reported_issues", value("issue")),
                ("diagnosis_notes", value("diagnosis")), ("repair_notes", value("resolution")),
                ("data_backup_offered", random.chance(0.5) ? .boolean(true) : 1),
                ("device_type", .object(["id": .string("typ_\(slug)"), "name": .string(type), "slug": .string(slug)])),
                ("assigned_engineer", nested("assigned_user_id", "assigned_user_name")),
                ("sub_location", subLocation(&random)),
            ] + times(["created_at"], &random))
    }

    /// What a device came with, its picture and a part of it.
    func accessory() -> JSONText {
        .object([
            "id": .string("acc_\(value("id").plain)"), "device_id": value("id"), "accessory_type": "charger",
            "description": "Charger", "created_at": value("created_at"),
        ])
    }

    func image() -> JSONText {
        .object([
            "id": .string("img_\(value("id").plain)"), "device_id": value("id"), "image_type": "pre_repair",
            "caption": "As received", "sort_order": 0, "uploaded_at": value("created_at"),
        ])
    }

    func part() -> JSONText {
        .object([
            "id": .string("prt_\(value("id").plain)"), "device_id": value("id"), "part_name": "Screen",
            "part_cost": "45.00", "is_oem": 1, "warranty_days": 90,
        ])
    }

    func ticket(_ random: inout SplitMix64) -> JSONText {
        .object(
            members: copies("id", "ticket_number", "subject", "status") + [
                ("ticket_type", order == nil ? "lead" : "order"),
                ("client", client.map(Self.named) ?? .null), ("assigned_user_id", value("assigned_user_id")),
                ("assigned_user", value("assigned_user_id") == .null ? .null : person("assigned_user_name")),
                (
                    "order",
                    order.map { .object(["id": $0["id"] ?? .null, "device_count": $0["device_count"] ?? .null]) }
                        ?? .null
                ),
                ("last_client_update", value("last_message_at")),
            ] + times(["created_at", "updated_at"], &random))
    }

    func message(_ random: inout SplitMix64) -> JSONText {
        let isStaff = value("sender_type") == "staff"
        let type: JSONText = value("is_internal") == true ? "note" : isStaff ? "outbound" : "inbound"
        var sender = isStaff ? person("sender_name") : .null
        if isStaff { sender = sender.setting("id", to: value("sender_id")) }
        return .object(
            members: copies("id", "ticket_id") + [
                ("type", type), ("body_text", value("content")),
                ("from_name", type == "note" ? "Internal Note" : value("sender_name")), ("created_by", sender),
                ("events", .array([])),
            ] + times(["created_at"], &random))
    }

    /// The staff member or location that the record names, as (id, name).
    func named(_ id: String, _ name: String) -> (id: String, name: String)? {
        value(id).string.map { ($0, value(name).plain) }
    }

    // MARK: Parts

    private func value(_ name: String) -> JSONText { source[name] ?? .null }

    private func copies(_ names: String...) -> [(key: String, value: JSONText)] { names.map { ($0, value($0)) } }

    private func nested(_ id: String, _ name: String) -> JSONText {
        value(id) == .null ? .null : .object(["id": value(id), "name": value(name)])
    }

    private var notes: JSONText {
        guard let text = value("notes").string else { return .array([]) }
        return .array([
            .object([
                "body": .string(text), "created_at": value("created_at"), "created_by": value("assigned_user_name"),
            ])
        ])
    }

    private static func named(_ client: JSONText) -> JSONText {
        let name = "\(client["first_name"]?.plain ?? "") \(client["last_name"]?.plain ?? "")"
        return .object(["id": client["id"] ?? .null, "email": client["email"] ?? .null, "name": .string(name)])
    }

    private func person(_ name: String) -> JSONText { Self.person(value(name).plain) }

    static func person(_ name: String) -> JSONText {
        let words = name.split(separator: " ", maxSplits: 1).map { JSONText.string(String($0)) }
        return .object(["first_name": words.first ?? .null, "last_name": words.count > 1 ? words[1] : .null])
    }

    private func nestedClient(_ names: String...) -> JSONText {
        client.map { client in .object(members: names.map { (key: $0, value: client[$0] ?? .null) }) } ?? .null
    }

    private func subLocation(_ random: inout SplitMix64) -> JSONText {
        guard random.chance(0.6) else { return .null }
        let code = "\(random.pick(["A", "B", "C"]))\(1 + random.below(12))"
        return .object([
            "id": .string("sub_\(code.lowercased())"), "code": .string(code), "description": .string("Shelf \(code)"),
        ])
    }

    private func flag(_ share: Double, _ random: inout SplitMix64) -> JSONText { random.chance(share) ? 1 : 0 }

    /// A number with two decimals or, sometimes, the same as text.
    private func money(_ name: String, _ random: inout SplitMix64) -> JSONText {
        random.chance(0.3) ? .string(value(name).plain) : value(name)
    }

    private func paid(_ random: inout SplitMix64) -> JSONText {
        let sum = JSONText.decimal(pence("total") - pence("balance"), places: 2)
        return random.chance(0.3) ? .string(sum.plain) : sum
    }

    private var paymentStatus: String {
        if value("status") == "cancelled" { return "refunded" }
        if pence("balance") == 0 { return "paid" }
        return pence("balance") < pence("total") ? "partial" : "unpaid"
    }

    private func pence(_ name: String) -> Int { Int(value(name).plain.replacing(".", with: "")) ?? 0 }

    /// All with milliseconds, or all without.
    private func times(_ names: [String], _ random: inout SplitMix64) -> [(key: String, value: JSONText)] {
        let isWhole = random.chance(0.3)
        return names.map { name in
            (name, isWhole ? .string("\(value(name).plain.prefix(19))Z") : value(name))
        }
    }
}

extension LiveShopRecord {
    private static let colours = ["Black", "White", "Silver", "Midnight", "Blue"]

    private static let orderStatuses = [
        "booked_in": ["awaiting_device", "in_progress"], "in_progress": ["in_progress"],
        "awaiting_parts": ["in_progress"], "ready": ["service_complete", "awaiting_collection"],
        "collected": ["collected_despatched"], "cancelled": ["collected_despatched"],
    ]

    private static let deviceStatuses = [
        "booked_in": ["device_received"], "diagnosing": ["diagnosing", "ready_to_quote"],
        "awaiting_approval": ["awaiting_authorisation", "awaiting_revised_quote"],
        "approved": ["authorised_source_parts", "ready_to_repair"], "in_repair": ["repairing"],
        "awaiting_parts": ["authorised_awaiting_parts"], "repaired": ["repaired_qc"], "quality_check": ["repaired_qc"],
        "ready": ["repaired_ready"], "collected": ["collected", "despatched"],
        "unrepairable": ["rejected", "company_rejected", "rejection_qc", "rejection_ready"],
    ]

    private static let buybackStatuses = [
        "booked_in": ["device_received"], "diagnosing": ["diagnosing"], "awaiting_approval": ["ready_to_quote"],
        "approved": ["ready_to_pay"], "in_repair": ["ready_to_pay"], "ready": ["payment_made"],
        "collected": ["added_to_buyback"], "unrepairable": ["rejected"],
    ]
}

internal import JSONText

/// Converts one record of the sample shop from the `repairminder` schema to the live one.
struct LiveShopRecord {
    let source: JSONText
    /// The client that the record refers to, if any.
    let client: JSONText?
    /// The order that the record refers to, if any.
    let order: JSONText?

    func client(_ random: inout SplitMix64) -> JSONText {
        .object(
            members: copies("id", "email", "first_name", "last_name", "phone", "company", "address", "city", "postcode")
                + copies("notes", "order_count") + [("total_spend", money("total_spent", &random))]
                + [("email_verified", flag(0.8, &random))] + times(["created_at", "updated_at"], &random))
    }

    func order(_ random: inout SplitMix64) -> JSONText {
        let number = value("order_number")
        let status = random.pick(Self.orderStatuses[value("status").plain] ?? ["in_progress"])
        return .object(
            members: [
                ("id", value("id")), ("order_number", random.chance(0.2) ? .string(number.plain) : number),
                ("status", .string(status)), ("payment_status", .string(paymentStatus)),
                ("order_total", money("total", &random)), ("amount_paid", paid(&random)),
                ("balance_due", money("balance", &random)), ("notes", value("notes")),
                ("client", nestedClient("id", "email", "first_name", "last_name", "phone")),
                ("location", nested("location_id", "location_name")),
                ("assigned_user", nested("assigned_user_id", "assigned_user_name")),
                ("device_count", value("device_count")), ("is_warranty", flag(0.1, &random)),
            ] + times(["created_at", "updated_at"], &random))
    }

    func device(_ random: inout SplitMix64) -> JSONText {
        let isBuyback = random.chance(0.05)
        let statuses = isBuyback ? Self.buybackStatuses : Self.deviceStatuses
        let status = random.pick(statuses[value("status").plain] ?? ["diagnosing"])
        let type = value("type").plain
        let slug = type.lowercased()
        return .object(
            members: copies("id", "order_id", "brand", "model") + [("colour", .string(random.pick(Self.colours)))]
                + [("serial_number", value("serial"))] + copies("imei", "passcode")
                + [("workflow_type", isBuyback ? "buyback" : "repair"), ("status", .string(status))]
                + copies("issue", "diagnosis", "resolution") + [("price", money("price", &random))] + [
                    (
                        "device_type",
                        .object(["id": .string("typ_\(slug)"), "name": .string(type), "slug": .string(slug)])
                    ),
                    ("assigned_engineer", nested("assigned_user_id", "assigned_user_name")),
                    ("sub_location", subLocation(&random)),
                ] + times(["created_at"], &random))
    }

    func ticket(_ random: inout SplitMix64) -> JSONText {
        let number = order.map {
            JSONText.object(["id": $0["id"] ?? .null, "order_number": $0["order_number"] ?? .null])
        }
        return .object(
            members: copies("id", "ticket_number", "subject", "status", "priority") + [
                ("client", nestedClient("id", "email", "first_name", "last_name")),
                ("assigned_user", nested("assigned_user_id", "assigned_user_name")), ("order", number ?? .null),
                ("message_count", value("message_count")),
            ] + times(["last_message_at", "created_at", "updated_at"], &random))
    }

    func message(_ random: inout SplitMix64) -> JSONText {
        .object(
            members: copies("id", "ticket_id", "content", "sender_type") + [
                ("sender", nested("sender_id", "sender_name")),
                ("is_internal", value("is_internal") == true ? 1 : 0),
            ] + times(["created_at"], &random))
    }

    // MARK: Parts

    private func value(_ name: String) -> JSONText { source[name] ?? .null }

    private func copies(_ names: String...) -> [(key: String, value: JSONText)] { names.map { ($0, value($0)) } }

    private func nested(_ id: String, _ name: String) -> JSONText {
        value(id) == .null ? .null : .object(["id": value(id), "name": value(name)])
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

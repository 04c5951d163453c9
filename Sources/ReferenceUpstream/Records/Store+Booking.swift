internal import EntitySchema
internal import JSONText

/// How Repair Minder books an order in: with what it makes besides the order.
extension Store {
    /// Adds an order for the client with the email address that was sent, who is made if there is none, with a ticket, its
    /// note and a signature.
    mutating func book(_ sent: JSONText, in orders: Entity, at now: Timestamp) throws(Refusal) -> JSONText {
        let client = try client(of: sent, at: now)
        let linked = client?["id"].map { sent.setting("client_id", to: $0) } ?? sent
        let order = try create(linked, in: orders, at: now)
        let key = order[orders.key] ?? .null
        let ticket = try ticket(of: sent, order: key, client, at: now)
        try make("order_signatures", signature(of: sent, order: key, at: now), at: now)
        if let note = sent["note"], note != .null {
            let message = JSONText.object([
                "ticket_id": ticket, "type": "note", "body_text": note, "from_name": "Internal Note",
            ])
            try make("ticket_messages", message, at: now)
        }
        return try update(orders, key: key.plain, with: .object(["ticket_id": ticket]), at: now)
    }

    private mutating func client(of sent: JSONText, at now: Timestamp) throws(Refusal) -> JSONText? {
        guard let clients = schema["clients"], let email = sent["client_email"], email != .null else { return nil }
        if let known = find(clients, where: [("email", email.plain)]) { return known }
        let prefix = "client_"
        let own = sent.members.compactMap { name, value in
            let field = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
            return name == "note" || clients[field: field] == nil ? nil : (key: field, value: value)
        }
        return try create(.object(members: own), in: clients, at: now)
    }

    /// The key of the order's ticket.
    private mutating func ticket(
        of sent: JSONText, order: JSONText, _ client: JSONText?, at now: Timestamp
    ) throws(Refusal) -> JSONText {
        if let known = sent["existing_ticket_id"], known != .null { return known }
        let name = ["client_first_name", "client_last_name"].compactMap { sent[$0]?.string }.joined(separator: " ")
        let ticket = JSONText.object([
            "subject": "New order", "status": "open", "ticket_type": "order", "order_id": order,
            "client_id": client?["id"] ?? .null, "client_name": .string(name),
        ])
        return try make("tickets", ticket, at: now)
    }

    private func signature(of sent: JSONText, order: JSONText, at now: Timestamp) -> JSONText {
        .object([
            "order_id": order, "signature_type": "drop_off", "has_signature": true,
            "typed_name": sent.at(path: "signature.typed_name") ?? .null,
            "terms_agreed": sent.at(path: "signature.terms_agreed") ?? .null, "captured_at": .string(now.description),
        ])
    }

    @discardableResult
    private mutating func make(_ name: String, _ record: JSONText, at now: Timestamp) throws(Refusal) -> JSONText {
        guard let entity = schema[name] else { return .null }
        return try create(record, in: entity, at: now)[entity.key] ?? .null
    }
}

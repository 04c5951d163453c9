package import JSONText

/// Generates the sample shop for the `repairminder-live` schema: the same bytes for the same seed and size.
///
/// The same shop as `ShopGenerator`'s, with the difficulties of the live records: nested records, money sometimes as
/// numbers and sometimes as text, booleans as 0 and 1, order numbers that are sometimes text, times with and without
/// milliseconds.
package struct LiveShopGenerator: Sendable {
    /// The only schema of these records.
    package static let schema = "repairminder-live"

    private let shop: ShopGenerator
    private let seed: UInt64

    package init(orders: Int = 500, seed: UInt64 = 1) {
        shop = ShopGenerator(orders: orders, seed: seed)
        self.seed = seed
    }

    /// By entity, each list in the order of creation.
    package func records() -> [String: [JSONText]] {
        let design = shop.records()
        let clients = Dictionary(uniqueKeysWithValues: (design["clients"] ?? []).map { ($0["id"]?.plain ?? "", $0) })
        let orders = Dictionary(uniqueKeysWithValues: (design["orders"] ?? []).map { ($0["id"]?.plain ?? "", $0) })
        var random = SplitMix64(seed: seed ^ 0x6C69_7665)
        func each(_ entity: String, _ record: (LiveShopRecord, inout SplitMix64) -> JSONText) -> [JSONText] {
            (design[entity] ?? []).map { source in
                let client = clients[source["client_id"]?.plain ?? ""]
                let order = orders[source["order_id"]?.plain ?? ""]
                return record(LiveShopRecord(source: source, client: client, order: order), &random)
            }
        }
        return [
            "clients": each("clients") { $0.client(&$1) }, "orders": each("orders") { $0.order(&$1) },
            "devices": each("devices") { $0.device(&$1) }, "tickets": each("tickets") { $0.ticket(&$1) },
            "ticket_messages": each("ticket_messages") { $0.message(&$1) },
        ]
    }

    // MARK: Workflow

    /// The transitions of a device's status that the server allows.
    package static let workflow = Workflow(
        entity: "devices", field: "status",
        steps: [
            "device_received": ["diagnosing", "company_rejected"],
            "diagnosing": ["ready_to_quote", "company_rejected"],
            "ready_to_quote": ["awaiting_authorisation", "ready_to_pay"],
            "awaiting_authorisation": ["authorised_source_parts", "ready_to_repair", "rejected"],
            "authorised_source_parts": ["authorised_awaiting_parts", "ready_to_repair"],
            "authorised_awaiting_parts": ["ready_to_repair"],
            "ready_to_repair": ["repairing"],
            "repairing": ["repaired_qc", "awaiting_revised_quote"],
            "awaiting_revised_quote": ["ready_to_repair", "rejected"],
            "repaired_qc": ["repaired_ready", "repairing"],
            "repaired_ready": ["collected", "despatched"],
            "rejected": ["rejection_qc"],
            "company_rejected": ["rejection_qc"],
            "rejection_qc": ["rejection_ready"],
            "rejection_ready": ["collected", "despatched"],
            "ready_to_pay": ["payment_made"],
            "payment_made": ["added_to_buyback"],
        ])
}

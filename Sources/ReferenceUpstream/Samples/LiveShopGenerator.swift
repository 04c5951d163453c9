package import JSONText

/// Generates the sample shop for the `repairminder-live` schema: the same bytes for the same seed and size.
///
/// The same shop as `ShopGenerator`'s, with the difficulties of the live records: nested records, money sometimes as
/// numbers and sometimes as text, booleans as true and as 1, order numbers that are sometimes text, times with and without
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
        func each(
            _ entity: String, every count: Int = 1, _ record: (LiveShopRecord, inout SplitMix64) -> JSONText?
        ) -> [JSONText] {
            (design[entity] ?? []).enumerated().filter { $0.offset.isMultiple(of: count) }.compactMap { _, source in
                let client = clients[source["client_id"]?.plain ?? ""]
                let order = orders[source["order_id"]?.plain ?? ""]
                return record(LiveShopRecord(source: source, client: client, order: order), &random)
            }
        }
        var records = [
            "clients": each("clients") { $0.client(&$1) }, "orders": each("orders") { $0.order(&$1) },
            "devices": each("devices") { $0.device(&$1) }, "tickets": each("tickets") { $0.ticket(&$1) },
            "ticket_messages": each("ticket_messages") { $0.message(&$1) },
            "order_items": each("orders") { $0.item(&$1) }, "order_payments": each("orders") { $0.payment(&$1) },
            "order_refunds": each("orders") { record, _ in record.refund() },
            "order_signatures": each("orders", every: 3) { record, _ in record.signature() },
            "device_accessories": each("devices", every: 2) { record, _ in record.accessory() },
            "device_images": each("devices", every: 5) { record, _ in record.image() },
            "device_parts": each("devices", every: 7) { record, _ in record.part() },
        ]
        let sources = design.values.flatMap(\.self).map { LiveShopRecord(source: $0, client: nil, order: nil) }
        records.merge(Self.lookUps(sources)) { first, _ in first }
        return records
    }

    /// What other records name: locations, staff and kinds of devices; and what stands on the shelf.
    private static func lookUps(_ records: [LiveShopRecord]) -> [String: [JSONText]] {
        func named(_ pairs: [(String, String)]) -> [(id: String, name: String)] {
            var names: [String: String] = [:]
            for record in records {
                for (id, name) in pairs.compactMap({ record.named($0.0, $0.1) }) { names[id] = name }
            }
            return names.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        }
        let staff = named([("assigned_user_id", "assigned_user_name"), ("sender_id", "sender_name")])
        let types = Set(records.compactMap { $0.source["type"]?.string }).sorted()
        let found: [String: [JSONText]] = [
            "locations": named([("location_id", "location_name")]).enumerated().map { index, place in
                .object(["id": .string(place.id), "name": .string(place.name), "is_primary": index == 0 ? 1 : 0])
            },
            "users": staff.map { user in
                LiveShopRecord.person(user.name).setting("id", to: .string(user.id)).setting("role", to: "engineer")
                    .setting("is_active", to: 1)
            },
            "device_types": types.map { type in
                let slug = type.lowercased()
                return .object([
                    "id": .string("typ_\(slug)"), "name": .string(type), "slug": .string(slug), "is_system": 1,
                ])
            },
        ]
        return found.merging(shelf) { first, _ in first }
    }

    /// The macros of a small shop, what it sells, and its bought stock.
    private static let shelf: [String: [JSONText]] = [
        "macros": [
            .object([
                "id": "mac_ready", "name": "Ready for collection", "initial_action_type": "email",
                "initial_content": "Your device is ready.", "is_active": 1, "sort_order": 1, "stage_count": 0,
            ])
        ],
        "macro_executions": ["completed", "active", "active", "active", "active", "active"].enumerated().map {
            index, status in
            .object([
                "id": .string("exe_\(index + 1)"), "macro_id": "mac_ready", "macro_name": "Ready for collection",
                "status": .string(status), "stages_completed": 0, "stages_total": 0,
                "created_at": .string("2026-01-0\(index + 1)T10:00:00Z"),
            ])
        },
        "product_types": [
            .object([
                "id": "pro_1", "name": "Screen protector", "sku": "SP-1", "category": "accessory",
                "default_sell_price": "9.99", "vat_rate": 20,
            ])
        ],
        "buyback_images": [
            .object([
                "id": "bim_1", "buyback_id": "buy_1", "image_type": "listing", "caption": "Front",
                "uploaded_at": "2026-01-05T10:00:00Z",
            ])
        ],
        "buyback": [
            .object([
                "id": "buy_1", "brand": "Apple", "model": "iPhone 12", "status": "for_sale", "purchase_amount": 120,
                "sell_price": "199.00", "storefront_published": 1, "created_at": "2026-01-05T10:00:00Z",
            ])
        ],
    ]

    // MARK: Workflow

    /// The steps of a device's status that the service allows, in each of its workflows.
    package static let workflows = [
        Workflow(
            entity: "devices", field: "status", when: ("workflow_type", "repair"),
            steps: [
                "device_received": ["diagnosing"], "diagnosing": ["ready_to_quote"],
                "ready_to_quote": [
                    "awaiting_authorisation", "company_rejected", "authorised_source_parts",
                    "authorised_awaiting_parts",
                    "ready_to_repair",
                ],
                "awaiting_authorisation": [
                    "authorised_source_parts", "authorised_awaiting_parts", "ready_to_repair", "rejected",
                ],
                "authorised_source_parts": ["authorised_awaiting_parts", "awaiting_authorisation"],
                "authorised_awaiting_parts": ["ready_to_repair", "awaiting_authorisation"],
                "ready_to_repair": ["repairing", "awaiting_authorisation"],
                "repairing": ["repaired_qc", "awaiting_revised_quote", "awaiting_authorisation"],
                "awaiting_revised_quote": ["awaiting_authorisation"],
                "repaired_qc": ["repaired_ready", "ready_to_repair"], "repaired_ready": ["collected", "despatched"],
                "company_rejected": ["rejection_qc"], "rejected": ["rejection_qc"],
                "rejection_qc": ["rejection_ready"], "rejection_ready": ["collected", "despatched"],
            ]),
        Workflow(
            entity: "devices", field: "status", when: ("workflow_type", "buyback"),
            steps: [
                "device_received": ["diagnosing"], "diagnosing": ["ready_to_quote", "company_rejected"],
                "ready_to_quote": ["awaiting_authorisation"], "awaiting_authorisation": ["ready_to_pay", "rejected"],
                "ready_to_pay": ["payment_made"], "payment_made": ["added_to_buyback"],
                "company_rejected": ["rejection_qc"], "rejected": ["rejection_qc"],
                "rejection_qc": ["rejection_ready"], "rejection_ready": ["collected", "despatched"],
            ]),
    ]
}

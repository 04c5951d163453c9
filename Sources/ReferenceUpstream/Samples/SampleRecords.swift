package import EntitySchema
package import JSONText

/// Sample records for a schema, and what an upstream needs to serve them as the real one would.
package struct SampleRecords: Sendable {
    private let schema: EntitySchema

    package init(for schema: EntitySchema) { self.schema = schema }

    /// A repair shop for the schemas `repairminder` and `repairminder-live`; otherwise values that fit the names of the
    /// fields. A seed always gives the same records.
    ///
    /// `rows` counts the shop's orders, or the records of each entity that belongs to no other.
    package func records(rows: Int, seed: UInt64, account: String) -> [String: [JSONText]] {
        switch schema.name {
        case ShopGenerator.schema: ShopGenerator(orders: rows, seed: seed).records()
        case LiveShopGenerator.schema: LiveShopGenerator(orders: rows, seed: seed).records()
        default: SampleGenerator(schema: schema, rows: rows, seed: seed, account: account).records()
        }
    }

    /// The settings of an upstream that behaves as this schema's own does.
    package var settings: UpstreamSettings {
        var settings = UpstreamSettings()
        if schema.name == LiveShopGenerator.schema {
            settings.workflows = LiveShopGenerator.workflows
            settings.shape = .repairMinder
        }
        return settings
    }
}

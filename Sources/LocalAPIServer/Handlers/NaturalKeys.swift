internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SQLiteStore

/// Ids such as `order_number:1486`: a value by which people know the record, instead of its key.
extension Handlers {
    /// More records with the same value are not listed.
    private static let mostListed = 10

    /// The key of the record that an id of a request means.
    ///
    /// That is the id itself, unless it has the form `field:value` with a natural field and no record has it as its key.
    /// Throws if no cached record has the value, or several have it.
    func key(of entity: Entity, _ id: String) throws -> String {
        guard let (field, value) = entity.naturalKey(in: id), try store.record(entity.name, key: id) == nil else {
            return id
        }
        let found = try keys(of: entity, field, value)
        guard let key = found.first else {
            throw Problem(.notCached, "no cached record of \(entity.name) has \(field.name) \(value)")
        }
        guard found.count == 1 else {
            throw Problem(
                .ambiguousID,
                "several records of \(entity.name) have \(field.name) \(value): \(found.joined(separator: ", ")); use an id"
            )
        }
        return key
    }

    private func keys(of entity: Entity, _ field: Field, _ value: String) throws -> [String] {
        // No number has another spelling as its value: +7, 007.
        if field.kind == .integer, Int64(value).map(String.init) != value { return [] }
        let query = ListQuery(
            entity: entity.name,
            filters: [ListQuery.Filter(field: field.name, comparison: .equal, values: [value])],
            fields: [entity.key], limit: Self.mostListed)
        return try JSONText(store.list(query).records).elements.compactMap { $0[entity.key]?.plain }
    }
}

internal import EntitySchema
internal import GRDB
internal import JSONText

/// Values of the records that a record refers to (`device.order_id`).
struct FarValues {
    let schema: EntitySchema
    let db: Database

    /// The value of that name; nil if it is no name of another record's value, or there is no such value.
    func value(_ name: String, of record: JSONText, _ entity: Entity) throws -> JSONText? {
        guard let far = entity.far(name), let key = entity.value(of: far.reference, in: record)?.plain,
            let other = schema[far.entity]
        else { return nil }
        let row = RecordRow(table: EntityTable(entity: other), db: db)
        let found = try row.load(KeyAlias.current(of: key, other.name, db))
        return found.flatMap { other.value(of: far.field, in: $0.document) }
    }

    /// The record with the values that the paths of its requests need, as members of those names; for filling paths alone.
    func added(to record: JSONText, of entity: Entity) throws -> JSONText {
        try entity.farNames.reduce(record) { filled, name in
            try value(name, of: record, entity).map { filled.setting(name, to: $0) } ?? filled
        }
    }
}

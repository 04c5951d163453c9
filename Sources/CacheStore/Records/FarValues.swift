internal import EntitySchema
internal import GRDB
internal import JSONText

/// The values of other records that the paths of an entity's requests need (`{device.order_id}`).
struct FarValues {
    let schema: EntitySchema
    let db: Database

    /// The record with these values as members of those names, for filling paths alone.
    func added(to record: JSONText, of entity: Entity) throws -> JSONText {
        try entity.farNames.reduce(record) { record, name in
            guard let far = entity.far(name), let key = entity.value(of: far.reference, in: record)?.plain,
                let other = schema[far.entity]
            else { return record }
            let row = RecordRow(table: EntityTable(entity: other), db: db)
            guard let found = try row.load(KeyAlias.current(of: key, other.name, db)),
                let value = other.value(of: far.field, in: found.document)
            else { return record }
            return record.setting(name, to: value)
        }
    }
}

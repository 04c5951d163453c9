internal import EntitySchema
internal import GRDB
internal import JSONText

/// Values of the records that a record refers to (`device.order_id`).
struct FarValues {
    let schema: EntitySchema
    let db: Database

    /// The value of that name; nil if it is no name of another record's value, or there is no such value. `there`: as the
    /// server last said it, if it has.
    func value(_ name: String, of record: JSONText, _ entity: Entity, there: Bool = false) throws -> JSONText? {
        guard let far = entity.far(name), let key = entity.value(of: far.reference, in: record)?.plain,
            let other = schema[far.entity]
        else { return nil }
        let row = RecordRow(table: EntityTable(entity: other), db: db)
        guard let found = try row.load(KeyAlias.current(of: key, other.name, db)) else { return nil }
        let said = there ? found.remote.flatMap { other.value(of: far.field, in: $0) } : nil
        guard let said, said.kind != .null else { return other.value(of: far.field, in: found.document) }
        return said
    }

    /// The record with the values that the paths of its requests need, as members of those names; for filling paths alone.
    /// The other records are upstream where the server last said they are.
    func added(to record: JSONText, of entity: Entity) throws -> JSONText {
        try entity.farNames.reduce(record) { filled, name in
            try value(name, of: record, entity, there: true).map { filled.setting(name, to: $0) } ?? filled
        }
    }

    /// The same for a record that the server last said as `remote`.
    func added(to record: JSONText, as remote: JSONText?, of entity: Entity) throws -> JSONText {
        try added(to: remote.map { entity.located(record, as: $0) } ?? record, of: entity)
    }
}

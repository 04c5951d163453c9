internal import EntitySchema
internal import GRDB

/// Notes which entities have changes that came while the schema lacked them, each with the id of the first one.
///
/// All changes of the entity from that one on came so: nothing else is queued of an entity that the schema lacks.
struct LateChanges {
    private let settings: SettingTable

    init(_ db: Database) { settings = SettingTable(db: db) }

    private static func setting(_ entity: String) -> String { "late:\(entity)" }

    /// The first such change of the entity; nil if there is none.
    func first(of entity: String) throws -> Int64? { try settings[Self.setting(entity)].map { Int64($0) ?? 0 } }

    /// The entities of a schema that have such changes, each with the first one.
    func known(in schema: EntitySchema) throws -> [(entity: Entity, first: Int64)] {
        try schema.entities.compactMap { entity in try first(of: entity.name).map { (entity, $0) } }
    }

    func note(_ id: Int64, of entity: String) throws {
        guard try id < first(of: entity) ?? .max else { return }
        try settings.set(Self.setting(entity), to: "\(id)")
    }

    /// The schema has the entity, and its changes are as if they had come now.
    func forget(_ entity: String) throws { try settings.remove(Self.setting(entity)) }
}

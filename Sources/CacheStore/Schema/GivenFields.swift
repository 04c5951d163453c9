internal import EntitySchema
internal import GRDB
internal import SQLiteStore
internal import Synchronization

/// Whether the upstream has sent fields of one entity that are computed on reading.
///
/// Few upstreams do. As long as this one has not, no document is searched for such a field when it is shown, which would
/// take longer than all else that is done to show it.
///
/// The mark is raised when a version of a record with such a field is parsed for writing, so before its commit: a reader
/// that sees the record sees the mark. It is never lowered, though the write may be undone; a raised mark costs only time.
/// The database keeps it, in the transaction of the record.
final class GivenFields: Sendable {
    private let table: EntityTable
    private let names: [String]
    private let isSeen = Atomic(false)

    init(_ table: EntityTable) {
        self.table = table
        names = table.computedFields.map(\.name)
    }

    /// Whether a document may have one. Ask this after its row was read.
    var mayBeSent: Bool { isSeen.load(ordering: .relaxed) }

    /// Call this for each version of a record that has one.
    func note() {
        if !mayBeSent { isSeen.store(true, ordering: .relaxed) }
    }

    /// Call this in the transaction that stores such a version.
    func store(_ db: Database) throws { try SettingTable(db: db).set(setting, to: known(true)) }

    /// Call this when the database is opened. Looks once through the records if it is not known of these fields.
    func load(_ db: Database) throws {
        guard !names.isEmpty else { return }
        let settings = SettingTable(db: db)
        switch try settings[setting] {
        case known(false): return
        case known(true): return note()
        default: break
        }
        if try !mayBeSent && Bool.fetchOne(db, sql: search) ?? false { note() }
        try settings.set(setting, to: known(mayBeSent))
    }

    /// Has all entities' records looked through at the next opening.
    static func forget(_ db: Database) throws {
        try db.execute(sql: "DELETE FROM sync_setting WHERE name GLOB 'given:*'")
    }

    /// Those of all entities, by name.
    static func all(of schema: EntitySchema) -> [String: GivenFields] {
        let fields = schema.entities.map { ($0.name, GivenFields(EntityTable(entity: $0))) }
        return Dictionary(uniqueKeysWithValues: fields)
    }

    private var setting: String { "given:\(table.entity.name)" }

    /// With the names, because another schema may compute others.
    private func known(_ isGiven: Bool) -> String { "\(isGiven ? 1 : 0) \(names.joined(separator: ","))" }

    /// Whether a document has one of the names somewhere.
    private var search: String {
        let conditions = ["_remote", "_local", "_document"].flatMap { text in
            names.map { "instr(\(text), '\"\($0)\"')" }
        }
        return "SELECT EXISTS (SELECT 1 FROM \(table.name) WHERE \(conditions.joined(separator: " OR ")))"
    }
}

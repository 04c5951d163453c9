internal import EntitySchema
internal import GRDB
internal import SQLiteStore
internal import Synchronization

/// Whether any record of one entity has had something that few records have. As long as none has, nothing looks for it.
///
/// The mark is raised when such a version of a record is written, before its commit: a reader that sees the record sees the
/// mark. It is never lowered, though the write may be undone; a raised mark costs only time. The database keeps it, in the
/// transaction of the record.
final class RecordMark: Sendable {
    /// In the settings.
    let name: String
    /// What exactly is looked for: another schema may ask for something else.
    private let meaning: String
    /// Whether the database has such a record.
    private let search: String
    private let isSet = Atomic(false)

    private init(_ kind: String, _ table: EntityTable, meaning: String, where condition: String) {
        name = "\(kind):\(table.entity.name)"
        self.meaning = meaning
        search = "SELECT EXISTS (SELECT 1 FROM \(table.name) WHERE \(condition))"
    }

    /// The upstream has sent fields that are computed on reading. Few upstreams do; as long as this one has not, no document
    /// is searched for such a field when it is shown, which would take longer than all else that is done to show it. Nil if
    /// the entity has no such fields.
    static func given(_ table: EntityTable) -> RecordMark? {
        let names = table.computedFields.map(\.name)
        guard !names.isEmpty else { return nil }
        // Whether a document has one of the names somewhere.
        let conditions = ["_remote", "_local", "_document"].flatMap { text in
            names.map { "instr(\(text), '\"\($0)\"')" }
        }
        return RecordMark(
            "given", table, meaning: names.joined(separator: ","), where: conditions.joined(separator: " OR "))
    }

    /// A record lacks a figure that is computed from its children, because the upstream leaves it out or does not know
    /// the record yet. As long as none does, children as the upstream sends them change nothing, and no parent is noted
    /// for them. Where it is not known whether one does, any record may be one. Nil if the entity has no figures.
    static func unsaid(_ table: EntityTable) -> RecordMark? {
        let figures = table.entity.figures
        guard !figures.isEmpty else { return nil }
        let meaning = figures.map { "\($0.name) \($0.source ?? "")" }.joined(separator: ",")
        return RecordMark("unsaid", table, meaning: meaning, where: "true")
    }

    /// A record has more than a megabyte. A single one of SQLite's own instructions can take milliseconds with such a text,
    /// so its lists are read where no other caller waits.
    static func large(_ table: EntityTable) -> RecordMark {
        let conditions = ["_remote", "_local", "_document"].map { "length(\($0)) > \(largeSize)" }
        return RecordMark("large", table, meaning: "\(largeSize)", where: conditions.joined(separator: " OR "))
    }

    /// Bytes of a record's texts.
    static let largeSize = 1 << 20

    /// Ask this after the record's row was read.
    var isRaised: Bool { isSet.load(ordering: .relaxed) }

    func raise() { if !isRaised { isSet.store(true, ordering: .relaxed) } }

    /// Call this in the transaction that stores such a version.
    func store(_ db: Database) throws { try SettingTable(db: db).set(name, to: known(true)) }

    /// Call this when the database is opened. Looks once through the records if the database does not know.
    func load(_ db: Database) throws {
        let settings = SettingTable(db: db)
        switch try settings[name] {
        case known(false): return
        case known(true): return raise()
        default: break
        }
        if try !isRaised && Bool.fetchOne(db, sql: search) ?? false { raise() }
        try settings.set(name, to: known(isRaised))
    }

    /// Has all entities' records looked through at the next opening.
    static func forget(_ db: Database) throws {
        try db.execute(
            sql: "DELETE FROM sync_setting WHERE name GLOB 'given:*' OR name GLOB 'unsaid:*' OR name GLOB 'large:*'")
    }

    private func known(_ isRaised: Bool) -> String { "\(isRaised ? 1 : 0) \(meaning)" }
}

/// The marks of one entity.
struct RecordMarks: Sendable {
    let given: RecordMark?
    let unsaid: RecordMark?
    let large: RecordMark

    init(_ table: EntityTable) {
        given = .given(table)
        unsaid = .unsaid(table)
        large = .large(table)
    }

    func load(_ db: Database) throws {
        try given?.load(db)
        try unsaid?.load(db)
        try large.load(db)
    }

    /// Those of all entities, by name.
    static func all(of schema: EntitySchema) -> [String: RecordMarks] {
        Dictionary(uniqueKeysWithValues: schema.entities.map { ($0.name, RecordMarks(EntityTable(entity: $0))) })
    }
}

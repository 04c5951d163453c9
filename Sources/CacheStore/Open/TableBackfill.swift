internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// How far a long opening is.
package struct OpeningProgress: Sendable, Equatable {
    package var entity: String
    /// Of the entity's records, from 0 to 1.
    package var share: Double
}

/// Fills new columns of a table that has records, then builds its missing indexes: in steps of one transaction each, so
/// that a start that is cut off goes on where it stopped.
///
/// Until it has run, nothing may read the columns.
struct TableBackfill {
    let writer: RecordWriter

    private var table: EntityTable { writer.table }
    private var db: Database { writer.db }

    private static let batch = 5000

    /// The setting with the `_pk` up to which the columns are filled.
    private static func setting(_ entity: String) -> String { "backfill:\(entity)" }

    // MARK: Requests

    static func request(_ table: EntityTable, _ db: Database) throws {
        try SettingTable(db: db).set(setting(table.entity.name), to: "0")
    }

    /// Whether columns of some table are still empty.
    static func isRequested(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM sync_setting WHERE name GLOB 'backfill:*')") ?? false
    }

    // MARK: Steps

    /// Does all that is requested, each step in its own transaction.
    static func run(_ pool: DatabasePool, _ plans: RecordPlans, _ progress: (OpeningProgress) -> Void) throws {
        for entity in plans.schema.entities where try pool.write({ try isRequested(entity.name, $0) }) {
            func backfill(_ db: Database) -> TableBackfill {
                let writer = RecordTransaction(db, plans, isSilent: true).writer(EntityTable(entity: entity))
                return TableBackfill(writer: writer)
            }
            try pool.write { db in try backfill(db).emptyLongColumns() }
            while let reached = try pool.write({ db in try backfill(db).step() }) { progress(reached) }
        }
    }

    private static func isRequested(_ entity: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM sync_setting WHERE name IN (?, ?))"),
            arguments: [setting(entity), SecondaryIndexes.setting(entity)]) ?? false
    }

    /// Removes long values if indexes are missing, so that these are built before the values are filled in again
    /// (`SecondaryIndexes.longest`).
    private func emptyLongColumns() throws {
        guard try SecondaryIndexes(table: table, db: db).areMissing(), !table.columns.isEmpty else { return }
        let columns = table.columns.map { column in
            let name = column.name.quoted(by: "\"")
            return (name: name, isLong: "length(\(name)) > \(SecondaryIndexes.longest)")
        }
        let values = columns.map { "\($0.name) = iif(\($0.isLong), NULL, \($0.name))" }.joined(separator: ", ")
        let areLong = columns.map(\.isLong).joined(separator: " OR ")
        try db.execute(sql: "UPDATE \(table.name) SET \(values) WHERE \(areLong)")
        if db.changesCount > 0 { try Self.request(table, db) }
    }

    /// One step, in the caller's transaction; returns how far it is, nil when there is nothing left to do.
    func step() throws -> OpeningProgress? {
        let name = table.entity.name
        let settings = SettingTable(db: db)
        guard let reached = try settings[Self.setting(name)].flatMap({ Int64($0) }) else {
            let hasBuilt = try SecondaryIndexes(table: table, db: db).buildNext()
            return hasBuilt ? OpeningProgress(entity: name, share: 1) : nil
        }
        let rows = try writer.images(after: reached, limit: Self.batch)
        for row in rows { try writer.rewrite(row) }
        guard let last = rows.last else {
            try settings.remove(Self.setting(name))
            return OpeningProgress(entity: name, share: 1)
        }
        try settings.set(Self.setting(name), to: "\(last.pk)")
        let greatest = try Int64.fetchOne(db, sql: "SELECT max(_pk) FROM \(table.name)") ?? last.pk
        return OpeningProgress(entity: name, share: Double(last.pk) / Double(max(greatest, 1)))
    }
}

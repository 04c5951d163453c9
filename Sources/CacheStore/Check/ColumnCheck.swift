internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import JSONText
internal import SQLiteStore

/// Compares a row's columns, and its mark for being displaced, with its texts.
struct ColumnCheck {
    private let plan: RecordPlan
    /// Returns a row only if a column differs: for each column whether it does.
    private let statement: Statement?
    private let merged: Statement

    init(plan: RecordPlan, db: Database) throws {
        self.plan = plan
        // The comparison converts a bound value as storing it in the column would.
        let differences = plan.columns.enumerated().map { "\"\($1.name)\" IS NOT ?\($0 + 2)" }
        let sql = """
            SELECT \(differences.joined(separator: ", ")) FROM \(plan.table.name)
            WHERE _pk = ?1 AND (\(differences.joined(separator: " OR ")))
            """
        statement = differences.isEmpty ? nil : try db.makeStatement(sql: sql)
        merged = try db.makeStatement(sql: "SELECT \(EntityTable.document) FROM \(plan.table.name) WHERE _pk = ?1")
    }

    func compare(_ image: RecordImage, _ found: inout Inconsistencies) throws {
        let place = "\(plan.entity.name)/\(image.key)"
        let shown = plan.values(in: image.shown)
        for column in try outdatedColumns(image, shown) {
            found.add(.column, place, "the column \(column) differs from the document")
        }
        let remote = image.isPlain ? shown : plan.values(in: image.remote)
        if plan.isDisplaced(image, shown, remote) != image.isDisplaced {
            found.add(.displaced, place, "the mark for another place on the server is wrong")
        }
        if image.local != nil, image.whole == nil, try !isPatched(image) {
            found.add(.overlay, place, "the document cannot be put together from its stored parts")
        }
    }

    private func outdatedColumns(_ image: RecordImage, _ shown: [JSONText?]) throws -> [String] {
        guard let statement = statement.map(BoundStatement.init) else { return [] }
        try statement.bind(image.pk, to: 1)
        for (index, field) in plan.columnFields.enumerated() {
            try statement.bind(ColumnValue(shown[field.place], as: field.kind), to: Int32(index + 2))
        }
        let names = try statement.first { row in
            plan.columns.indices.filter { sqlite3_column_int(row, Int32($0)) != 0 }.map { plan.columns[$0].name }
        }
        return names ?? []
    }

    /// Whether readers, who let SQLite apply the local fields, see the same document.
    private func isPatched(_ image: RecordImage) throws -> Bool {
        let merged = BoundStatement(merged)
        try merged.bind(image.pk, to: 1)
        guard let document = try merged.first({ JSONText(column: 0, of: $0) }) ?? nil, let shown = image.shown else {
            return false
        }
        return document.isEquivalent(to: shown)
    }
}

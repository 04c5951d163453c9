internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Compares what readers see of records with their queued changes over what the server said.
struct OverlayCheck {
    private let table: EntityTable
    private let db: Database
    private let hasChanges: Bool
    /// Some owner of these records is hidden, so they may have to be as well.
    private let hasHiddenOwners: Bool
    private let hasDerivedFields: Bool

    init(table: EntityTable, db: Database) throws {
        self.table = table
        self.db = db
        hasDerivedFields = table.entity.derivedFields.contains { !$0.isComputedOnReading }
        hasChanges =
            try Bool.fetchOne(
                db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM sync_outbox WHERE entity = ?)"),
                arguments: [table.entity.name]) ?? false
        hasHiddenOwners = try table.entity.ties.contains { tie in
            guard tie.onDelete == .cascade else { return false }
            return try Bool.fetchOne(
                db.cachedStatement(
                    sql: "SELECT EXISTS (SELECT 1 FROM \(EntityTable.name(of: tie.entity)) WHERE _deleted <> 0)"))
                ?? false
        }
    }

    func compare(_ images: [RecordImage], _ found: inout Inconsistencies) throws {
        let changes = try changes(of: images)
        let overlay = RecordOverlay(table.entity)
        let row = RecordRow(table: table, db: db)
        for image in images {
            let queued = changes[image.key.exact] ?? []
            if queued.isEmpty, isAsTheServerSays(image) { continue }
            let place = "\(table.entity.name)/\(image.key)"
            let expected = try overlay.image(of: image, queued) { record in
                try hasHiddenOwners && row.isOwnerDeleted(of: record, image.key)
            }
            guard let expected else {
                found.add(.overlay, place, "the record has neither a server version nor a queued change")
                continue
            }
            if image.local != expected.local {
                found.add(.overlay, place, "the local fields differ from the queued changes")
            } else if image.shown != expected.shown {
                found.add(.overlay, place, "the document differs from the server's version with the local fields")
            }
            if image.isDeleted != expected.isDeleted {
                found.add(
                    .overlay, place,
                    image.isDeleted
                        ? "the record is hidden, but no deletion of it or its owner is queued"
                        : "the record is shown, but its deletion or its owner's is queued")
            }
        }
    }

    /// Whether nothing can be laid over the record: most are like that, and cost nothing here.
    private func isAsTheServerSays(_ image: RecordImage) -> Bool {
        !hasDerivedFields && !hasHiddenOwners && image.isPlain && image.remote != nil
    }

    /// Record → its queued changes, oldest first.
    private func changes(of images: [RecordImage]) throws -> [ExactText: [RecordOverlay.Change]] {
        guard hasChanges else { return [:] }
        let keys = JSONText.array(of: images.map(\.key)).text
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT record_key, \(RecordOverlay.Change.columns) FROM sync_outbox
                    WHERE entity = ? AND record_key IN (SELECT value FROM json_each(?)) ORDER BY id
                    """),
            arguments: [table.entity.name, keys])
        var changes: [ExactText: [RecordOverlay.Change]] = [:]
        while let row = try rows.next() {
            changes[ExactText(row["record_key"]), default: []].append(try RecordOverlay.Change(reading: row))
        }
        return changes
    }

    func findChangesWithoutRecord(_ found: inout Inconsistencies) throws {
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT id, record_key FROM sync_outbox
                    WHERE entity = ? AND NOT EXISTS (SELECT 1 FROM \(table.name) WHERE _key = record_key) ORDER BY id
                    """),
            arguments: [table.entity.name])
        while !found.isFull, let row = try rows.next() {
            found.add(
                .overlay, "\(table.entity.name)/\(row["record_key"] as String)",
                "change \(row["id"] as Int64) is queued, but there is no such record")
        }
    }
}

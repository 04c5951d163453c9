internal import EntitySchema
internal import GRDB
internal import JSONText

/// Rebuilds what readers see of a record (`RecordOverlay`).
extension RecordWriter {
    /// Rebuilds local fields, document and deletion from the queue and the derived fields. Deletes a row that has
    /// neither a server version nor a queued change: it is no longer a record.
    ///
    /// `shown` has what readers saw of the fields that follow the queue, if the row no longer has it.
    func rebuildDocument(over key: String, shown: JSONText? = nil) throws {
        let changes = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT \(RecordOverlay.Change.columns) FROM sync_outbox
                    WHERE entity = ? AND record_key = ? ORDER BY id
                    """),
            arguments: [table.entity.name, key]
        ).map(RecordOverlay.Change.init(reading:))
        guard let old = try image(of: key) else { return }
        try rebuildDocument(over: old, changes, shown: shown)
    }

    /// The same for the row as it is, with these queued changes, oldest first. Returns the row as it is then; nil if it was
    /// deleted.
    @discardableResult
    func rebuildDocument(
        over old: RecordImage, _ changes: [RecordOverlay.Change], shown: JSONText? = nil
    ) throws -> RecordImage? {
        let new = try plan.overlay.image(of: old, changes, shown: shown) { record in
            try row.isOwnerDeleted(of: record, old.key)
        }
        guard let new else {
            try delete(old.key)
            return nil
        }
        try update(old, to: new)
        return new
    }
}

internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Deletes records that the server no longer has, or never had, inside the caller's transaction.
struct RecordDeletion {
    let table: EntityTable
    let context: WriteContext
    /// Where the log has the acknowledged deletion that this is a part of: the server may be behind with all that goes with
    /// the record.
    var ownDeletion: Int64?

    var db: Database { context.db }
    private var entity: Entity { table.entity }
    private var row: RecordRow { context.row(table) }
    private var writer: RecordWriter { context.writer(table) }

    /// Deletes records and everything that the schema cascades to. A record with queued changes becomes a conflict:
    /// see `Merge.mergeDeletion`.
    ///
    /// `isInferred`: the server did not say so, its answers were only without the record.
    func delete(keys: [String], isInferred: Bool = false) throws -> Int {
        let deleted = try deleteAlone(keys, isInferred: isInferred)
        try applyDeleteRules(of: deleted.cascading)
        return deleted.count
    }

    /// The same without what the schema cascades to. `cascading`: the records whose delete rules are still to be applied.
    func deleteAlone(
        _ keys: [String], isInferred: Bool = false
    ) throws -> (count: Int, cascading: [String]) {
        guard !keys.isEmpty else { return (0, []) }
        var gone: [String] = []
        var changedHere: [String] = []
        var news: [String] = []
        for key in keys {
            guard let image = try writer.image(of: key) else { continue }
            if image.local == nil {
                try writer.deleteUncounted(image)
                try noteOwnDeletion(of: image)
                gone.append(key)
            } else {
                changedHere.append(key)
                if image.remote != nil, try !isKnownToBeDeleted(key) { news.append(key) }
            }
        }
        let merge = Merge(table: table, context: context)
        for key in changedHere { try merge.mergeDeletion(of: key, isInferred: isInferred) }
        try writer.tally(-Int64(gone.count))
        // Once for each deletion, however often it is reported. Also for records that are kept for a local change: the
        // server deleted their children all the same.
        let cascading = gone + news
        gone += try changedHere.filter { try !row.exists($0) }
        try context.log.append(.deleted, entity: entity.name, keys: gone)
        return (gone.count, cascading)
    }

    private func noteOwnDeletion(of image: RecordImage) throws {
        guard let ownDeletion, let remote = image.remote else { return }
        try context.noteDeletion(of: image.key, entity, at: ownDeletion, changedAt: entity.changeTime(of: remote))
    }

    /// Whether an earlier report of the deletion waits for a person, or for the outcome of an attempt.
    private func isKnownToBeDeleted(_ key: String) throws -> Bool {
        if try row.deletion(of: key) != nil { return true }
        return try ConflictTable(db: db, now: context.now).isDeletionOpen(of: entity.name, key: key)
    }
}

internal import EntitySchema
internal import SQLiteStore

/// Deletes a record for a caller, inside the caller's transaction: queues the deletion, or deletes a record that is
/// kept on this machine only, with everything that the schema cascades to.
struct DeletionWriter {
    let writer: ChangeWriter

    init(_ writer: ChangeWriter) { self.writer = writer }

    /// Throws `.notFound` without such a record, `.conflict` if a delete rule denies it, `.changed` for another
    /// version.
    func delete(_ key: String, expecting expected: ExpectedVersion = .any) throws {
        let (key, content) = try writer.requireDeletable(key, expected)
        if writer.entity.isLocal {
            _ = try RecordDeletion(table: writer.table, context: writer.context).delete(keys: [key])
        } else {
            try writer.queueDeletion(of: key, content)
        }
    }
}

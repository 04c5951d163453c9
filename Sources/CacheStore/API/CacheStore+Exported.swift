package import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Taking over another database's queue.
extension CacheStore {
    /// Takes in the changes that are not here and have not been; taking the same in again changes nothing.
    ///
    /// Throws `.incompatible` for changes with secrets that were sealed with another key.
    package func take(_ queue: ExportedQueue, at now: Timestamp) async throws -> ExportedCount {
        try await writer.write { db in
            let own = QueueSnapshot(db)
            try requireKey(of: queue, own)
            var changes = queue.changes
            // What left this queue since it was exported from here must not come back.
            if queue.origin.settings["database"] == own.settings["database"] {
                changes.removeAll(where: own.hasEnded)
            }
            var count = try QueueImport(context: context(db, at: now), settings: queue.origin.settings)
                .addUnknown(changes)
            count.known += queue.changes.count - changes.count
            return count
        }
    }

    private func requireKey(of queue: ExportedQueue, _ own: QueueSnapshot) throws {
        let settings = queue.origin.settings
        let isSealed = queue.changes.contains { change in
            settings["secrets:\(change.entity)"].map { $0 != "[]" } ?? false
        }
        guard isSealed, settings["secrets_key"] != own.settings["secrets_key"] else { return }
        throw CacheError.incompatible(
            "the changes have secrets that were sealed with another key; bring secret.key along from the other machine")
    }
}

internal import EntitySchema

/// What becomes of deletions that waited for a change which the server has refused.
extension ChangeWriter {
    /// Drops the change `id` of the record if it was refused and only a deletion would wait for it: that of the record, or of
    /// one that it is deleted with. Called when a change has failed.
    func letDeletionsPass(_ id: Int64, of key: String) throws {
        guard let change = try queue.entry(id), change.isRefused, try row.isDeleted(key) else { return }
        let waiting = try queue.changes(of: entity.name, key: key)
        if waiting.last?.operation != .delete {
            // Hidden with its owner.
            _ = try dropUnsent(key)
        } else if let creation = waiting.first, creation.operation == .create, waiting.allSatisfy(\.isUnknownThere) {
            if try dependents(on: creation, besides: waiting).isEmpty { try drop(key, with: waiting) }
        } else {
            for change in waiting where change.isRefused && change.operation == .update { try supersede(change) }
            try writer.rebuildDocument(over: key)
        }
    }
}

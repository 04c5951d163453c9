internal import EntitySchema
internal import JSONText

extension Merge {
    /// Notes that both sides have deleted the record: a list that still has it is behind, as after a deletion that the
    /// server has acknowledged.
    ///
    /// `remote`: what the server last said of it.
    func noteAgreedDeletion(of key: String, _ remote: JSONText?) throws {
        let rows = SettlingTable(entity: table.entity.name, db: context.db)
        let known = try rows.row(of: key)?.changedAt
        try rows.save(
            Settling(
                key: key, kind: .deleted, at: context.now, position: context.records.lastNumbers().entry,
                changedAt: [remote.flatMap(table.entity.changeTime), known].compactMap(\.self).max(),
                isConfirmed: true))
    }
}

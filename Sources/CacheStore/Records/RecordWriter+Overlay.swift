internal import EntitySchema
internal import GRDB
internal import JSONText

/// Builds what readers see of a record: queued changes, derived and computed fields over what the server said.
extension RecordWriter {
    /// Rebuilds local fields, document and deletion from the queue and the derived fields. Deletes a row that has
    /// neither a server version nor a queued change: it is no longer a record.
    ///
    /// `shown` has what readers saw of the fields that follow the queue, if the row no longer has it.
    func rebuildDocument(over key: String, shown: JSONText? = nil) throws {
        let changes = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT operation, body, content, state FROM sync_outbox WHERE entity = ? AND record_key = ? ORDER BY id
                    """),
            arguments: [table.entity.name, key])
        guard let old = try image(of: key) else { return }
        if changes.isEmpty, old.remote == nil { return try delete(key) }
        let local = try changes.reduce(JSONText.object([:])) { try $0.setting(JSONText(parsing: $1["body"] as String)) }
        let edited = withContentState(old.remote?.setting(local) ?? local, changes)
        let own = ComputedFields(entity: table.entity).overlay(
            edited: edited, remote: old.remote, creation: Self.creation(in: changes),
            shown: [shown, old.whole].compactMap(\.self))
        var new = old
        new.local = changes.isEmpty ? .none : .some(local)
        new.show(edited.setting(.object(members: (old.derived?.members ?? []) + own)))
        let isDeleted = changes.last.map { $0["operation"] == Operation.delete.rawValue } ?? false
        new.isDeleted = try isDeleted || isOwnerDeleted(of: edited, key)
        try update(old, to: new)
    }

    private static func creation(in changes: [Row]) -> ComputedFields.Creation? {
        changes.first { $0["operation"] == Operation.create.rawValue }.map {
            $0["state"] == OutboxState.failed.rawValue ? .failed : .queued
        }
    }

    /// Whether the record belongs to an owner whose deletion is queued, and goes with it.
    private func isOwnerDeleted(of record: JSONText, _ key: String) throws -> Bool {
        for tie in table.entity.ties where tie.onDelete == .cascade {
            guard let owner = table.entity.value(of: tie.field, in: record)?.plain, !owner.isEmpty,
                tie.entity != table.entity.name || owner != key
            else { continue }
            let isDeleted = try Bool.fetchOne(
                db.cachedStatement(
                    sql: "SELECT _deleted FROM \(EntityTable.name(of: tie.entity)) WHERE _key = ?"),
                arguments: [owner])
            if isDeleted == true { return true }
        }
        return false
    }

    /// Sets the upload state of the record's content, if the schema has a field for it.
    private func withContentState(_ document: JSONText, _ changes: [Row]) -> JSONText {
        let queued = changes.last { ($0["content"] as String?) ?? ContentTable.nothing != ContentTable.nothing }
        guard let field = table.entity.content?.state, let queued else { return document }
        let state = ContentState(OutboxState(rawValue: queued["state"]) ?? .queued)
        return document.setting(field, to: .string(state.rawValue))
    }
}

package import EntitySchema
internal import GRDB
package import JSONText

/// The queued changes that carry one write, whether they are still in the queue or not.
package struct QueuedWrite: Sendable, Equatable {
    package var operation: Operation
    /// The record's key at the time of the write.
    package var key: String
    package var changes: [Int64]
    var fields: [String]
    /// The last entries of change log and conflict log before the write.
    var mark: Mark

    struct Mark: Sendable, Equatable {
        var position: Int64
        var conflict: Int64
    }
}

extension QueuedWrite {
    /// As it is stored for repeats of the write.
    package var document: JSONText {
        .object([
            "operation": .string(operation.rawValue), "key": .string(key),
            "changes": .array(changes.map { .integer(Int($0)) }), "fields": .array(of: fields),
            "position": .integer(Int(mark.position)), "conflict": .integer(Int(mark.conflict)),
        ])
    }

    /// Nil for any other document.
    package init?(_ document: JSONText) {
        guard let operation = document["operation"]?.string.flatMap(Operation.init(rawValue:)),
            let key = document["key"]?.string, let position = document["position"]?.integer,
            let conflict = document["conflict"]?.integer
        else { return nil }
        self.init(
            operation: operation, key: key,
            changes: (document["changes"]?.elements ?? []).compactMap(\.integer).map { Int64($0) },
            fields: (document["fields"]?.elements ?? []).compactMap(\.string),
            mark: Mark(position: Int64(position), conflict: Int64(conflict)))
    }
}

extension LocalTransaction {
    /// Does one write, `body`, which returns the record's key, and returns the changes that carry it with the result.
    ///
    /// These are the changes that it queued or joined and, for fields that already had their value, the last that set
    /// them.
    package func track<Result>(
        _ operation: Operation, of entity: String, fields: [String],
        _ body: () throws -> (key: String, result: Result)
    ) throws -> (queued: QueuedWrite, result: Result) {
        let mark = try mark()
        let (key, result) = try body()
        let current = try KeyAlias.current(of: key, entity, in: context.records)
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT change_id, fields FROM sync_change_log
                    WHERE entity = ? AND keys = ? AND change_id IS NOT NULL AND seq > ? AND kind = 'queued'
                    """),
            arguments: [entity, ChangeLog.keys([current]), mark.position])
        var changes = Set(rows.map { $0["change_id"] as Int64 })
        if operation == .update {
            let queued = try rows.flatMap { try $0.json("fields")?.elements.compactMap(\.string) ?? [] }
            let queue = try context.queue.changes(of: entity, key: current)
            for field in fields where !queued.contains(field) {
                if let last = queue.last(where: { $0.body[field] != nil }) { changes.insert(last.id) }
            }
        }
        let queued = QueuedWrite(
            operation: operation, key: key, changes: changes.sorted(), fields: fields, mark: mark)
        return (queued, result)
    }

    private func mark() throws -> QueuedWrite.Mark {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT coalesce((SELECT max(seq) FROM sync_change_log), 0),
                      coalesce((SELECT max(id) FROM sync_conflict), 0)
                    """))
        return QueuedWrite.Mark(position: row?[0] ?? 0, conflict: row?[1] ?? 0)
    }
}

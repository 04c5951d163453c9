internal import EntitySchema
internal import GRDB
internal import JSONText

/// A record that a pull brought under the server's key before its creation was acknowledged here. It may have been edited
/// since, so the answer to the creation, or to its repeat, may be older than what is known.
struct PulledTwin {
    let table: EntityTable
    let context: WriteContext
    /// What the server last said of it.
    private let remote: JSONText
    private let key: String
    private var settling: Settling?

    /// Nil if the answer gives the record no other key, or one that is not known.
    init?(of change: OutboxTable.Entry, _ answer: JSONText?, _ table: EntityTable, _ context: WriteContext) throws {
        guard change.operation == .create, let key = answer?[table.entity.key].flatMap(Entity.key),
            key.exact != change.key.exact, let remote = try context.row(table).remote(of: key)
        else { return nil }
        self.table = table
        self.context = context
        self.remote = remote
        self.key = key
        settling = try context.settling(of: key, table.entity)
    }

    /// The answer without what it shows of earlier versions.
    mutating func updated(_ answer: JSONText) throws -> JSONText {
        let entity = table.entity
        if let time = entity.changeTime(of: answer), let known = entity.changeTime(of: remote), time < known {
            return remote
        }
        guard case .counts(let kept) = try settling?.meet(answer, context.comparison(entity)) else {
            return settling == nil ? answer : remote
        }
        return kept.shown.reduce(answer) { $0.setting($1.key, to: $1.value) }
    }

    /// The answer with what only the pull has shown: the server's values of other fields, and what it has made of those that
    /// were sent. A list of changes may not show them again.
    func completed(_ answer: JSONText, _ view: RecordView) throws -> ViewMerge.Result {
        let members = try ViewTable(entity: table.entity.name, db: context.db).members(of: key)
        let merge = ViewMerge(entity: table.entity, view: view, isSettling: true, isPartial: true)
        return merge.result(answer, over: remote, members)
    }

    /// Gives its queued edits what they were made on where no list had shown that: what the creation had sent. `remote`: the
    /// record since the creation was acknowledged.
    func rebaseEdits(after creation: OutboxTable.Entry, on remote: JSONText, _ key: String) throws {
        let comparison = try context.comparison(table.entity)
        for edit in try context.queue.changes(of: creation.entity, key: key) where edit.operation == .update {
            var base = edit.base
            for (field, sent) in creation.body.members where edit.body[field] != nil {
                guard base[field]?.kind ?? .null == .null, let value = table.entity.value(of: field, in: remote),
                    comparison.isSame(value, sent, of: field)
                else { continue }
                base = base.setting(field, to: value)
            }
            try context.queue.store(edit.body, base: base, of: edit, makeID: context.makeID)
        }
    }

    /// Adds what is known of the record to what follows from the creation: which view has which members, and its
    /// acknowledged edits. `shown`: the completed answer.
    func add(_ shown: ViewMerge.Result?, to result: inout Acknowledgement.Result) {
        if let shown {
            let merge = ViewMerge(entity: table.entity, view: .answer, isSettling: true)
            let names = merge.names(of: shown.record)
            // What was sent and no view has is part of none.
            let isWhole = names == merge.names(of: result.remote)
            result.members = shown.members ?? (isWhole ? nil : [ViewMerge.main(of: table.entity): names])
            result.hasNewMembers = true
        }
        guard let settling else { return }
        result.settling.parts.merge(settling.parts) { _, own in own }
        result.settling.changedAt = [result.settling.changedAt, settling.changedAt].compactMap(\.self).max()
        result.settling.isConfirmed = result.settling.isConfirmed && settling.isConfirmed
    }
}

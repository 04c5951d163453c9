internal import EntitySchema
internal import GRDB
internal import JSONText

/// Applies the outcome of an attempt to the change and its record, inside the caller's transaction.
struct OutcomeApplier {
    let context: WriteContext

    private var db: Database { context.db }
    private var now: Timestamp { context.now }
    private var queue: OutboxTable { context.queue }
    private var log: ChangeLog { context.log }

    func settle(_ id: Int64, _ outcome: PushOutcome) throws {
        let change = try queue.change(id)
        switch outcome {
        case .acknowledged(let record, let version): return try acknowledge(change, record, version)
        case .vanished(let record): return try acknowledge(change, record, nil, isGone: true)
        case .gone(let failure): return try forget(change, failure)
        case .notSent:
            try queue.takeBack(id)
            try log.append(.queued, change, detail: [ChangeLogReason.notSent.member])
        case .waiting(let failure, let next, let counted):
            try queue.postpone(id, failure, until: next, counted: counted)
            try note(failure, .waiting, of: change, next: next)
        case .failed(let failure):
            try queue.fail(id, failure)
            try note(failure, .failed, of: change)
        }
        try catchUp(change)
    }

    /// Merges the change with what the server sent while the attempt was under way.
    private func catchUp(_ change: OutboxTable.Entry) throws {
        guard let table = context.table(change.entity) else { return }
        if try context.row(table).isGone(change.key) {
            try delete(change.key, table)
        } else {
            try merge(table).mergeRemote(of: change.key)
        }
    }

    private func note(
        _ failure: PushFailure, _ kind: ChangeLogKind, of change: OutboxTable.Entry, next: Timestamp? = nil
    ) throws {
        let error = JSONText.object([
            "class": .string(failure.kind), "status": .integer(failure.status), "message": .string(failure.message),
        ])
        try log.append(
            kind, change, detail: [("error", error), ("next_attempt_at", .string(next?.description))])
    }

    /// The server no longer has the record: the same as if a pull had reported it.
    private func forget(_ change: OutboxTable.Entry, _ failure: PushFailure) throws {
        try queue.requeue(change.id, failure)
        try note(failure, .waiting, of: change)
        if let table = context.table(change.entity) { try delete(change.key, table) }
    }

    private func delete(_ key: String, _ table: EntityTable) throws {
        _ = try applier(table).delete(keys: [key])
    }

    /// `isGone`: the server accepted the change and has deleted the record since.
    private func acknowledge(
        _ change: OutboxTable.Entry, _ record: JSONText?, _ version: String?, isGone: Bool = false
    ) throws {
        try queue.remove(change.id)
        guard let table = context.table(change.entity) else { return }
        let (row, writer) = (context.row(table), context.writer(table))
        // A look-up may find the tombstone of the record that an attempt created.
        let isGone = try isGone || row.isGone(change.key) || record.map(table.entity.isDeleted) ?? false
        var key = change.key
        switch change.operation {
        case .delete: try writer.setRemote(nil, of: key, at: now)
        case .create, .update:
            // When the answer has no record, the upstream has what was sent.
            let sealed = try record.map(context.sealers[change.entity].seal)
            try DriftTable(table: table, db: db, now: now).count(record, sealed: sealed, key: key)
            let remote = try sealed ?? assumed(after: change, table)
            try writer.setRemote(remote, version: version, of: key, at: now)
            try keepContent(of: change, remote, table)
            try rebase(after: change, on: remote, table.entity)
            if let given = remote[table.entity.key]?.plain, given != key, !given.isEmpty, change.operation == .create {
                try KeyAlias.rename(table, from: key, to: given, context.records)
                try log.append(
                    .renamed, change: change.id, entity: change.entity, key: given, detail: [("old_id", .string(key))])
                key = given
            }
        }
        try merge(table).mergeRemote(of: key)
        let position = try log.append(
            .acknowledged, change: change.id, entity: change.entity, key: key, fields: change.body.members.map(\.key),
            detail: [("operation", .string(change.operation.rawValue))])
        try db.cachedStatement(sql: "UPDATE \(table.name) SET _acknowledged = ? WHERE _key = ?")
            .execute(arguments: [position, key])
        guard change.operation == .delete else {
            if isGone { try delete(key, table) }
            return
        }
        // The server will not report the deletion of the children.
        if try !row.exists(key) { try applier(table).applyDeleteRules(of: [key]) }
        try db.cachedStatement(
            sql: "INSERT INTO sync_gone VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET position = excluded.position"
        ).execute(arguments: [change.entity, key, position])
    }

    /// The record that the server has, when its answer did not contain it.
    private func assumed(after change: OutboxTable.Entry, _ table: EntityTable) throws -> JSONText {
        let remote = try context.row(table).remote(of: change.key)?.setting(change.body) ?? change.body
        guard let content = change.content, content != ContentTable.nothing, let field = table.entity.content?.state
        else { return remote }
        return remote.setting(field, to: .string(ContentState.uploaded.rawValue))
    }

    private func keepContent(of change: OutboxTable.Entry, _ remote: JSONText, _ table: EntityTable) throws {
        guard let content = change.content else { return }
        let address = table.entity.content?.address.flatMap { table.entity.value(of: $0, in: remote)?.string }
        try context.writer(table).setContent(
            content == ContentTable.nothing ? nil : content, address: address, of: change.key)
    }

    /// Rebases later changes on the values that this change set on the server: they are our own edits.
    private func rebase(after change: OutboxTable.Entry, on remote: JSONText, _ entity: Entity) throws {
        let ours = Set(change.body.members.map(\.key))
        for later in try queue.changes(of: change.entity, key: change.key) where later.operation == .update {
            let fields = later.body.members.map(\.key).filter { change.operation == .create || ours.contains($0) }
            let base = fields.reduce(later.base) { $0.setting($1, to: entity.value(of: $1, in: remote) ?? .null) }
            try queue.store(later.body, base: base, of: later, makeID: context.makeID)
        }
        guard let table = context.table(change.entity) else { return }
        for later in try queue.changes(of: change.entity, key: change.key)
        where later.operation == .delete && !later.base.members.isEmpty {
            // The server may have stored the value in another spelling.
            guard merge(table).isOwnChange(later.base, remote, { field, _ in ours.contains(field) }) else { continue }
            try queue.store(later.body, base: remote, of: later, makeID: context.makeID)
        }
    }

    // MARK: Parts

    private func applier(_ table: EntityTable) -> PageApplier {
        PageApplier(table: table, context: context)
    }

    private func merge(_ table: EntityTable) -> Merge {
        Merge(table: table, context: context)
    }
}

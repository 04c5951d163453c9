internal import EntitySchema
internal import GRDB
internal import JSONText

/// Merges the queued changes of a record with the server's new version of it.
///
/// A conflict is a field that changed both locally and, since the change's base, on the server. Fields that changed on
/// one side only need no decision. Runs in the transaction that writes the server's version; merging twice changes
/// nothing.
struct Merge {
    let table: EntityTable
    let context: WriteContext
    /// The server's change time if a change from here has just set it: it does not say when others set the other fields.
    var ownTime: Timestamp?

    var entity: Entity { table.entity }
    var sealer: RecordSealer { context.sealers[entity.name] }
    var queue: OutboxTable { context.queue }
    var row: RecordRow { context.row(table) }
    var writer: RecordWriter { context.writer(table) }
    var conflicts: ConflictTable { ConflictTable(db: context.db, now: context.now) }
    var log: ChangeLog { context.log }

    // MARK: The server has another version

    /// Merges every queued change of the record with the server's version, and rebuilds what readers see.
    ///
    /// A change that is being sent is only noted where the server shows it: applying its outcome merges again.
    func mergeRemote(of key: String) throws {
        let changes = try queue.changes(of: entity.name, key: key)
        guard let remote = try row.remote(of: key) else { return try writer.rebuildDocument(over: key) }
        // Values that earlier local changes set on the server are no conflict.
        var own = OwnValues(comparison: try context.comparison(entity))
        for change in changes {
            let change = try RevivedRecord(table: table, context: context).edit(from: change) ?? change
            switch change.operation {
            case .update where change.state == .uploading: try noteShown(change, remote, own.comparison)
            case .update: try mergeUpdate(change, remote, own)
            case .delete where change.state != .uploading: try mergeDelete(change, remote, own)
            case .create, .delete: break
            }
            own.add(change)
        }
        try writer.rebuildDocument(over: key)
    }

    /// Takes values that the server shows for the first time, in another view than those so far, as what the queued
    /// changes of these fields were based on: they have not been set since. Not what a creation that still waits has set:
    /// another value in its place is that of others.
    func adopt(_ fields: [String], of key: String) throws {
        guard !fields.isEmpty, let remote = try row.remote(of: key) else { return }
        let changes = try queue.changes(of: entity.name, key: key)
        let created = changes.first { $0.operation == .create }?.body
        let fields = fields.filter { created?[$0] == nil }
        for change in changes
        where change.operation == .update || change.operation == .delete && !change.base.members.isEmpty {
            let base = fields.filter {
                change.base[$0] == nil && (change.operation == .delete || change.body[$0] != nil)
            }.reduce(change.base) {
                $0.setting($1, to: entity.value(of: $1, in: remote) ?? .null)
            }
            try queue.store(change.body, base: base, of: change, makeID: context.makeID)
        }
    }

    /// A value that the server shows of a change, and the one that the change was based on.
    private typealias Shown = (field: String, value: JSONText, before: JSONText)

    private func mergeUpdate(_ change: OutboxTable.Entry, _ remote: JSONText, _ own: OwnValues) throws {
        var change = change
        var shown: [Shown] = []
        for (field, local) in change.body.members {
            // A member that is missing says nothing.
            guard let server = entity.value(of: field, in: remote) else { continue }
            let before = change.base[field] ?? .null
            guard !own.comparison.isSame(server, before, of: field) else { continue }
            let isShown = change.tried && own.comparison.isSame(server, local, of: field)
            if isShown { shown.append((field, server, before)) }
            // When a field before this one lost, `take` dropped those that the server has from an earlier attempt, too.
            guard change.body[field] != nil else { continue }
            if let merged = mergedSet(field, of: change, local, server, own) {
                change = try store(merged, of: field, in: change)
                continue
            }
            if change.tried, isMade(server, of: local, before: before, in: field),
                !isEarlier(server, than: local, of: field, change, own)
            {
                if !isShown { shown.append((field, server, before)) }
                change = try store(server, of: field, in: change)
                try conflicts.decideOpen(of: change.id, field: field, .local)
                continue
            }
            if try isOurs(server, from: before, of: field, own.with(change)) {
                if change.tried, !isShown { shown.append((field, server, before)) }
                change = try take(.local, of: field, in: change)
                // Both sides agree by now.
                try conflicts.decideOpen(of: change.id, field: field, .local)
                continue
            }
            change = try settled(field, of: change, local, server, othersTime(of: remote), own)
        }
        try noteShown(shown, of: change, remote, own.comparison)
    }

    /// The change once a field that both sides have set was merged, or one of the two was chosen.
    private func settled(
        _ field: String, of change: OutboxTable.Entry, _ local: JSONText, _ server: JSONText, _ serverAt: Timestamp?,
        _ own: OwnValues
    ) throws -> OutboxTable.Entry {
        if let merged = mergedMembers(field, of: change, local, server, own) {
            try conflicts.decideOpen(of: change.id, field: field, .local)
            return try store(merged, of: field, in: change)
        }
        let dispute = Conflict.Dispute(
            change: change, field: field, base: change.base[field], local: local, server: server,
            localAt: change.editedAt(field), serverAt: serverAt)
        guard let winner = try decide(dispute) else { return change }
        return try resolve(winner, of: field, in: change)
    }

    /// When others may have changed a field of the record; nil if that is unknown.
    private func othersTime(of remote: JSONText) -> Timestamp? {
        entity.changeTime(of: remote).flatMap { $0 == ownTime ? nil : $0 }
    }

    /// Whether a server makes this value of what was sent, in a way that says so by itself.
    private func isMade(_ server: JSONText, of sent: JSONText, before: JSONText, in field: String) -> Bool {
        if sent.kind == .null { return entity[field: field]?.isZero(server) ?? false }
        return isFilled(sent, from: before, in: server) || Self.isCut(sent, from: before, to: server)
    }

    /// Notes what the server shows of a change whose answer is still to come.
    private func noteShown(_ change: OutboxTable.Entry, _ remote: JSONText, _ comparison: ValueComparison) throws {
        var shown: [Shown] = []
        for (field, local) in change.body.members {
            guard let server = entity.value(of: field, in: remote), comparison.isSame(server, local, of: field) else {
                continue
            }
            let before = change.base[field] ?? .null
            if !comparison.isSame(server, before, of: field) { shown.append((field, server, before)) }
        }
        try noteShown(shown, of: change, remote, comparison)
    }

    /// The server shows what an attempt without an answer has set, so that earlier values are older from now on.
    private func noteShown(
        _ shown: [Shown], of change: OutboxTable.Entry, _ remote: JSONText, _ comparison: ValueComparison
    ) throws {
        guard !shown.isEmpty else { return }
        var row =
            try context.settling(of: change.key, entity)
            ?? Settling(key: change.key, kind: .written, at: context.now, position: 0)
        for (field, value, before) in shown { row.set(field, to: value, from: [before], comparison) }
        row.at = context.now
        if let time = entity.changeTime(of: remote) {
            row.changedAt = time
            row.isExact = true
        }
        try SettlingTable(entity: entity.name, db: context.db).save(row)
    }

    /// Whether the server has one of our values, or what it made of one that it was sent.
    func isOurs(
        _ server: JSONText, from before: JSONText, of field: String, _ own: OwnValues
    ) throws -> Bool {
        if own.contains(server, of: field) { return true }
        return try own.sent[field, default: []].contains {
            try isMade(server, of: $0, before: before, in: field)
                || context.learn($0, as: server, of: field, entity)
        }
    }

    /// Makes the change set this value, based on the server's.
    private func store(_ value: JSONText, of field: String, in change: OutboxTable.Entry) throws -> OutboxTable.Entry {
        let server = try row.remote(of: change.key).flatMap { entity.value(of: field, in: $0) } ?? .null
        var changed = change
        changed.body = change.body.setting(field, to: value)
        changed.base = change.base.setting(field, to: server)
        try queue.store(changed.body, base: changed.base, of: change, makeID: context.makeID)
        return changed
    }
}

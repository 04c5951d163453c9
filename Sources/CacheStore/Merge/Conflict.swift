internal import EntitySchema
internal import JSONText

/// A local change that met a change on the server.
package enum Conflict {
    package enum Side: String, Sendable, Equatable {
        case local, server
    }

    /// The two sides of a conflict.
    struct Dispute {
        var change: OutboxTable.Entry
        /// Nil when the conflict is about the whole record.
        var field: String?
        /// The value that both sides started from.
        var base: JSONText?
        /// Nil when the record was deleted locally.
        var local: JSONText?
        /// Nil when the server no longer has the field, or the record.
        var server: JSONText?
        /// Both by the server's clock.
        var localAt: Timestamp
        var serverAt: Timestamp?
    }
}

/// Conflicts: who wins, and what follows from that.
extension Merge {
    /// Decides by the entity's policy and logs the conflict; nil when a user has to decide, as always when it `asks`.
    func decide(_ dispute: Conflict.Dispute, asks: Bool = false) throws -> Conflict.Side? {
        let winner = asks ? nil : winner(of: dispute)
        let isOpen = try winner == nil && conflicts.refresh(dispute)
        if !isOpen {
            let id = try conflicts.note(dispute, rule: entity.conflict, winner: winner)
            try log.append(
                .conflict, change: dispute.change.id, entity: entity.name, key: dispute.change.key,
                fields: dispute.field.map { [$0] },
                detail: [ChangeLogReason.found.member, ("conflict", .integer(Int(id)))])
        }
        return winner
    }

    func noteMerged(_ change: OutboxTable.Entry) throws {
        try log.append(.discarded, change, detail: [ChangeLogReason.merged.member])
    }

    private func winner(of dispute: Conflict.Dispute) -> Conflict.Side? {
        let isDeletedThere = dispute.server == nil && dispute.field == nil
        switch entity.conflict {
        case .manual: return nil
        case .serverWins: return .server
        case .localWins: return isDeletedThere && entity.push.create.isEmpty ? .server : .local
        case .lastWriteWins:
            if isDeletedThere { return .server }
            // Without a change time, assume that the server had its value first.
            guard let serverAt = dispute.serverAt else { return .local }
            return dispute.localAt > serverAt ? .local : .server
        }
    }

    // MARK: What the winner asks for

    /// Does what a conflict's winner asks for, and rebuilds what readers see.
    func apply(_ winner: Conflict.Side, of field: String, in change: OutboxTable.Entry) throws {
        _ = try resolve(winner, of: field, in: change)
        try writer.rebuildDocument(over: change.key)
    }

    /// Does what a conflict's winner asks for. A local value that has won gets another idempotency key: under its first one, the
    /// upstream would take it for a repeat of what others have replaced since, and do nothing.
    func resolve(
        _ winner: Conflict.Side, of field: String, in change: OutboxTable.Entry
    ) throws -> OutboxTable.Entry {
        if winner == .local { try queue.renewKey(of: change, makeID: context.makeID) }
        return try take(winner, of: field, in: change)
    }

    /// Rebases the change's field on the server's value, or drops the field. Returns the resulting change.
    ///
    /// The rest of a change that was tried is sent under a new idempotency key, so it also drops the fields that the
    /// server has from that attempt.
    ///
    /// Does not rebuild what readers see: that looks at all changes of the record, so a merge does it only once.
    func take(
        _ winner: Conflict.Side, of field: String, in change: OutboxTable.Entry
    ) throws -> OutboxTable.Entry {
        var changed = change
        let remote = try row.remote(of: change.key)
        let comparison = try context.comparison(entity)
        func server(_ field: String) -> JSONText { remote.flatMap { entity.value(of: field, in: $0) } ?? .null }
        switch winner {
        case .local: changed.base = change.base.setting(field, to: server(field))
        case .server:
            changed.body = .object(
                members: change.body.members.filter { name, value in
                    name != field && !(change.tried && comparison.isSame(server(name), value, of: name))
                })
        }
        try queue.store(changed.body, base: changed.base, of: change, makeID: context.makeID)
        if change.operation == .update, changed.body.members.isEmpty { try noteMerged(change) }
        return changed
    }

    func apply(_ winner: Conflict.Side, ofDeletion change: OutboxTable.Entry) throws {
        switch winner {
        case .local:
            let base = try row.remote(of: change.key) ?? change.base
            try queue.store(change.body, base: base, of: change, makeID: context.makeID)
            try queue.renewKey(of: change, makeID: context.makeID)
        case .server:
            try DeleteRules(context: context).restore(after: change)
            try queue.remove(change.id)
            try noteMerged(change)
        }
        try writer.rebuildDocument(over: change.key)
    }
}

internal import EntitySchema
internal import GRDB
internal import JSONText

/// A deletion made here meets the server's new version of the record.
extension Merge {
    func mergeDelete(_ change: OutboxTable.Entry, _ remote: JSONText, _ own: OwnValues) throws {
        // Deletions queued by earlier versions have no base. Derived fields change when other records do, which is not
        // an edit.
        let (server, base) = (entity.withoutDerivedFields(remote), entity.withoutDerivedFields(change.base))
        guard !change.base.members.isEmpty, !sealer.isEquivalent(server, base) else { return }
        let isOwn = try isOwnChange(change.base, remote) { field, value in
            try isOurs(value, from: entity.value(of: field, in: change.base) ?? .null, of: field, own)
        }
        if isOwn { return try queue.store(change.body, base: remote, of: change, makeID: context.makeID) }
        let dispute = Conflict.Dispute(
            change: change, field: nil, base: change.base, local: nil, server: remote,
            localAt: change.editedAt(OutboxTable.wholeRecord), serverAt: entity.changeTime(of: remote))
        if let winner = try decide(dispute) { try apply(winner, ofDeletion: change) }
    }

    /// Whether the server's old and new version differ only in the times of changes, of the record and of its children,
    /// and in fields for which `isOwn`, given the new value, recognizes the work of an earlier local change. A field that
    /// the new one lacks says nothing.
    ///
    /// Fields that only the server sets, such as totals and versions, move with such a change: in a version that shows one
    /// they are no work of others, nor after a change of a related record. `isAnswer`: the new version is the answer to the change,
    /// which was received just now.
    func isOwnChange(
        _ before: JSONText, _ now: JSONText, isAnswer: Bool = false,
        _ isOwn: (_ field: String, _ value: JSONText) throws -> Bool
    ) throws -> Bool {
        let comparison = try context.comparison(entity)
        var (hasOwn, moved) = (isAnswer, false)
        for field in entity.fields {
            guard !field.isDerivedHere, field.name != entity.pull?.changedAt,
                field.name != entity.pull?.whenChanged,
                let new = entity.value(of: field.name, in: now)
            else { continue }
            let old = entity.value(of: field.name, in: before) ?? .null
            if comparison.isSame(old, new, of: field.name) { continue }
            if try isOwn(field.name, new) {
                hasOwn = true
            } else if isSetByServer(field.name) || isAnswer && isTime(new, ofAnswerFor: field) {
                moved = true
            } else {
                return false
            }
        }
        return try hasOwn || !moved || hasRelatedChange(before, now)
    }

    /// Whether a change of a record that refers to this one, or to which this one refers, was acknowledged a moment ago or may
    /// have arrived: totals and copies of names move with it. A deletion first takes from the record what refers to it, so what
    /// was deleted, or referred to it before, counts as well. Without updates, any field may be the work of others.
    private func hasRelatedChange(_ before: JSONText, _ now: JSONText) throws -> Bool {
        guard !entity.push.update.isEmpty, let key = now[entity.key]?.plain else { return false }
        for (field, target) in entity.references {
            let parent = (entity.value(of: field, in: now) ?? entity.value(of: field, in: before))?.plain
            if let parent, try hasChange(of: target, parent, { _ in "changed.record_key = ?2" }) { return true }
        }
        for table in context.schema.entities.compactMap({ context.table($0.name) }) {
            let isOther = table.entity.name == entity.name ? "changed.record_key <> ?2 AND " : ""
            for (field, target) in table.entity.references where target == entity.name {
                let refers = """
                    EXISTS (SELECT 1 FROM \(table.name) AS record
                      WHERE record._key = changed.record_key AND \(table.sql(for: field, of: "record.")) = ?2)
                    """
                let isFound = try hasChange(of: table.entity.name, key) {
                    "\(isOther)(instr(\($0), ?2) > 0 OR \(refers))"
                }
                if isFound { return true }
            }
        }
        return false
    }

    /// Whether there is such a change for which `condition`, given what is known of the values before, holds; `key` is ?2.
    private func hasChange(of entity: String, _ key: String, _ condition: (_ values: String) -> String) throws -> Bool {
        try Bool.fetchOne(
            context.db.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM sync_settling AS changed WHERE entity = ?1 AND at > ?3
                        AND \(condition("iif(kind = 'deleted', ?2, fields)")))
                      OR EXISTS (SELECT 1 FROM sync_outbox AS changed WHERE entity = ?1 AND tried > 0
                        AND \(condition("base")))
                    """),
            arguments: [entity, key, (context.now - context.schema.upstream.settle).milliseconds]) ?? false
    }

    /// Whether the field now has the time of this answer: a change time that the schema does not name.
    private func isTime(_ value: JSONText, ofAnswerFor field: Field) -> Bool {
        guard field.kind == .time, let time = entity.instant(value) else { return false }
        return (Self.mostSkew * -1...Self.mostSkew).contains(time.since(context.now))
    }

    /// By how much the clocks may differ, together with the time that the answer took.
    private static let mostSkew = Duration.seconds(300)

    private func isSetByServer(_ field: String) -> Bool {
        if case .field(let version)? = context.schema.upstream.version, version.place == field { return true }
        return entity.isSetByServer(field) || entity.touchedFields.contains { $0.name == field }
    }
}

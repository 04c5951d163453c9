internal import EntitySchema
internal import GRDB
internal import JSONText

/// Children with their secrets sealed.
struct SealedChildren: Sendable {
    var children: PulledChildren
    /// Replaces `children.records`.
    var records: JSONText
}

/// Writes the children that came with their parents, and deletes those that no longer do.
extension PageApplier {
    /// `position`: the end of the change log when the parents or their children were requested.
    func apply(_ sealed: SealedChildren, of parents: EntityTable, position: Int64) throws -> ChildOutcome {
        let children = sealed.children
        var page = IncomingPage(sealed.records, of: table.entity)
        var clear = IncomingPage(children.records, of: table.entity)
        // A parent that was deleted since it was asked for has taken its children along.
        let row = RecordRow(table: parents, db: db)
        let gone = try children.parents.filter { try !row.exists(KeyAlias.current(of: $0, parents.entity.name, db)) }
            .exactSet
        if !gone.isEmpty {
            page.remove(where: children.by, isIn: gone)
            clear.remove(where: children.by, isIn: gone)
        }
        let written = try apply(page, clear: clear, Bounds(position: position, view: .embedded))
        var outcome = ChildOutcome(written: written.written, deleted: written.deleted)
        let present = page.records.compactMap { $0.key ?? $0.unreadableKey }.exactSet
        try MissingTable(entity: table.entity.name, db: db).forget(present)
        let missing = try missing(children, present, position)
        let confirmed = missing.filter { child in
            switch children.deletes {
            case .all: true
            case .none: false
            case .only(let keys): keys.contains(child.key.exact)
            }
        }
        outcome.deleted += try deletion.delete(keys: confirmed.map(\.key), isInferred: true)
        let deleted = confirmed.map(\.key).exactSet
        for child in missing where !deleted.contains(child.key.exact) {
            outcome.missing[child.parent.exact, default: []].append(child.key)
        }
        return outcome
    }

    /// Cached children of parents whose children are complete in the answer, but which are not in it. Without those that an
    /// attempt may have moved to another parent: their changes find out what became of them.
    private func missing(
        _ children: PulledChildren, _ present: Set<ExactText>, _ position: Int64
    ) throws -> [(key: String, parent: String)] {
        guard !children.complete.isEmpty else { return [] }
        let parent = table.sql(for: children.by)
        let missing = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT _key, CAST(\(parent) AS TEXT) FROM \(table.name)
                    WHERE \(Self.isNotBeingDeleted("?3")) AND \(parent) IN (SELECT value FROM json_each(?1))
                      AND _remote IS NOT NULL AND coalesce(_acknowledged, 0) <= ?2
                      AND _key NOT IN (
                        SELECT record_key FROM sync_outbox WHERE entity = ?3 AND operation = 'update' AND tried > 0
                          AND state <> \(OutboxState.failed.sql) AND body -> ?4 IS NOT NULL)
                    """),
            arguments: [
                JSONText.array(of: children.complete).text, position, table.entity.name, "$.\"\(children.by)\"",
            ]
        ).map { (key: $0[0] as String, parent: $0[1] as String) }.filter { !present.contains($0.key.exact) }
        // A list that is behind may lack a record that was just created or changed. It is not read again until its
        // parent changes.
        let created = try context.newKeys(of: table.entity.name)
        return try missing.filter { child in
            let changed = try context.settling(of: child.key, table.entity) != nil
            guard changed || created.contains(child.key.exact) else { return true }
            try SettlingTable(entity: table.entity.name, db: db).doubt(child.key)
            return false
        }
    }

    /// Leaves out a record whose deletion is on its way. One whose deletion failed, or waits for a change that failed, may
    /// have gone all the same. `entity`: the parameter with the entity's name.
    static func isNotBeingDeleted(_ entity: String) -> String {
        """
        (_deleted = 0 OR _key IN (
          SELECT record_key FROM sync_outbox WHERE entity = \(entity) AND state = \(OutboxState.failed.sql)))
        """
    }
}

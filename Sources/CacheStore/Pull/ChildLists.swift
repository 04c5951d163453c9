internal import EntitySchema
internal import GRDB
internal import JSONText

/// Children with their secrets sealed.
struct SealedChildren: Sendable {
    var children: PulledChildren
    /// In the place of `children.records`.
    var records: String
}

/// Writing the children that came with their parents, and deleting those that did not come any more.
extension PageApplier {
    /// `position`: where the change log ended when the parents or their children were asked for.
    func apply(_ sealed: SealedChildren, position: Int64) throws -> ChildOutcome {
        let children = sealed.children
        // All of them, to know which are missing.
        _ = try IncomingRecords(table, db, at: context.now).fill(sealed.records, leavesOut: false)
        let written = try applyIncoming(clear: children.records, position: position)
        var outcome = ChildOutcome(written: written.written, deleted: written.deleted)
        let missing = try missing(children, position)
        if missing.count > children.allowance {
            outcome.held = missing.count
        } else {
            outcome.deleted += try delete(keys: missing)
        }
        return outcome
    }

    /// Children in the cache of parents whose children are all known, but not among those that came.
    private func missing(_ children: PulledChildren, _ position: Int64) throws -> [String] {
        guard !children.complete.isEmpty else { return [] }
        return try String.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT _key FROM \(table.name)
                    WHERE _deleted = 0 AND \(table.sql(for: children.by)) IN (SELECT value FROM json_each(?1))
                      AND _remote IS NOT NULL AND coalesce(_acknowledged, 0) <= ?2
                      AND _key NOT IN (SELECT key FROM sync_incoming WHERE usable)
                    """),
            arguments: [
                JSONText.array(children.complete.map(JSONText.string)).text, position,
            ])
    }
}

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
        let written = try apply(sealed.records, clear: children.records, position: position)
        var outcome = ChildOutcome(written: written.written, deleted: written.deleted)
        let missing = try missing(children, sealed.records, position)
        if missing.count > children.allowance {
            outcome.held = missing.count
        } else {
            outcome.deleted += try delete(keys: missing)
        }
        return outcome
    }

    /// Children in the cache of parents whose children are all known, but not among these.
    private func missing(_ children: PulledChildren, _ records: String, _ position: Int64) throws -> [String] {
        guard !children.complete.isEmpty else { return [] }
        return try String.fetchAll(
            db.cachedStatement(
                sql: """
                    \(incoming)
                    SELECT _key FROM \(table.name)
                    WHERE _deleted = 0 AND \(table.sql(for: children.by)) IN (SELECT value FROM json_each(?2))
                      AND _remote IS NOT NULL AND coalesce(_acknowledged, 0) <= ?3
                      AND _key NOT IN (SELECT CAST(key AS TEXT) FROM incoming WHERE usable)
                    """),
            arguments: [
                records, JSONText.array(children.complete.map(JSONText.string)).text, position,
            ])
    }
}

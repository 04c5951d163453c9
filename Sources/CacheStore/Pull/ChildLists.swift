internal import EntitySchema
internal import GRDB
internal import JSONText

/// Children with their secrets sealed.
struct SealedChildren: Sendable {
    var children: PulledChildren
    /// Replaces `children.records`.
    var records: String
}

/// Writes the children that came with their parents, and deletes those that no longer do.
extension PageApplier {
    /// `position`: the end of the change log when the parents or their children were requested.
    func apply(_ sealed: SealedChildren, position: Int64) throws -> ChildOutcome {
        let children = sealed.children
        let page = IncomingPage(sealed.records, of: table.entity)
        let clear = IncomingPage(children.records, of: table.entity)
        let written = try apply(page, clear: clear, Bounds(position: position, view: .embedded))
        var outcome = ChildOutcome(written: written.written, deleted: written.deleted)
        let missing = try missing(children, Set(page.records.compactMap(\.key)), position)
        if missing.count > children.allowance {
            outcome.held = missing.count
        } else {
            outcome.deleted += try delete(keys: missing)
        }
        return outcome
    }

    /// Cached children of parents whose children are complete in the answer, but which are not in it.
    private func missing(_ children: PulledChildren, _ present: Set<String>, _ position: Int64) throws -> [String] {
        guard !children.complete.isEmpty else { return [] }
        let new = try context.newKeys(of: table.entity.name)
        return try String.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT _key FROM \(table.name)
                    WHERE _deleted = 0 AND \(table.sql(for: children.by)) IN (SELECT value FROM json_each(?1))
                      AND _remote IS NOT NULL AND coalesce(_acknowledged, 0) <= ?2
                    """),
            arguments: [JSONText.array(children.complete.map(JSONText.string)).text, position]
        ).filter { !present.contains($0) && !new.contains($0) }
    }
}

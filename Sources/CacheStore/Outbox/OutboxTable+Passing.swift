internal import EntitySchema
internal import GRDB
internal import JSONText

/// Which changes pass one that has failed, and those that it holds up.
extension OutboxTable {
    /// Lets the changes pass that need not wait for a failed one, nor for those that do: others of a group whose entity holds up
    /// none, and new records that the server joins with one that it has already (`waits_for`). Called when a change has failed.
    func letOthersPass(_ id: Int64) throws {
        guard let failed = try entry(id), failed.state == .failed,
            failed.isThereAlready || schema.entities.contains(where: { !$0.holdsUpWhenFailed })
        else { return }
        var held: Set<Int64> = [id]
        var rest = [id]
        while let next = rest.popLast() {
            guard let ahead = try entry(next) else { continue }
            let waiting = try Int64.fetchAll(
                db.cachedStatement(sql: "SELECT change_id FROM sync_dependency WHERE needs_id = ?"), arguments: [next])
            for later in try waiting.compactMap(entry) {
                if !needs(ahead, later) {
                    try pass(later.id, next, held)
                } else if held.insert(later.id).inserted {
                    rest.append(later.id)
                }
            }
        }
    }

    /// Whether the change waits for a failed one, directly or through others.
    func isHeldUp(_ id: Int64) throws -> Bool {
        let failed = "state = \(OutboxState.failed.sql)"
        let hasFailed = try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM sync_outbox WHERE \(failed))"))
        guard hasFailed == true else { return false }
        return try Bool.fetchOne(
            db.cachedStatement(
                sql: """
                    WITH RECURSIVE need (id) AS (
                      SELECT needs_id FROM sync_dependency WHERE change_id = ?
                      UNION SELECT needs_id FROM sync_dependency JOIN need ON change_id = need.id)
                    SELECT EXISTS (SELECT 1 FROM need JOIN sync_outbox AS change ON change.id = need.id WHERE \(failed))
                    """),
            arguments: [id]) ?? false
    }

    /// Lets a change wait for what is ahead of another instead of for that, but for what is held up itself.
    private func pass(_ later: Int64, _ other: Int64, _ held: Set<Int64>) throws {
        try db.cachedStatement(sql: "DELETE FROM sync_dependency WHERE change_id = ? AND needs_id = ?")
            .execute(arguments: [later, other])
        var needs: Set<Int64> = []
        var seen: Set<Int64> = [other]
        var rest = [other]
        while let next = rest.popLast() {
            let ahead = try Int64.fetchAll(
                db.cachedStatement(sql: "SELECT needs_id FROM sync_dependency WHERE change_id = ?"), arguments: [next])
            for need in ahead where seen.insert(need).inserted {
                if held.contains(need) { rest.append(need) } else { needs.insert(need) }
            }
        }
        try depend(later, on: needs)
    }

    /// Whether a change that waits for one that is failed or held up has a reason to.
    private func needs(_ ahead: Entry, _ later: Entry) -> Bool {
        guard (later.entity, later.key.exact) != (ahead.entity, ahead.key.exact), let entity = schema[later.entity]
        else {
            return true
        }
        let isCreated = ahead.operation == .create
        let isReferred = entity.fields.contains {
            $0.kind == .reference(to: ahead.entity) && later.body[$0.name]?.plain.exact == ahead.key.exact
        }
        let isPartner = entity.fields.contains { $0.waitsFor?.entity == ahead.entity }
        if isCreated, isReferred || isPartner && !ahead.isThereAlready { return true }
        return schema[ahead.entity]?.holdsUpWhenFailed != false && !(isCreated && isPartner)
    }
}

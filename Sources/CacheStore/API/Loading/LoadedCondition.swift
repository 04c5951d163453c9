internal import EntitySchema
internal import SQLiteStore

/// When an entity has all records that the upstream had when its first load began, its lists use indexes, and its
/// figures do not wait for another load: as a statement that returns a row then.
///
/// A local-only entity is always loaded. Children that come with another entity's records are loaded with them.
struct LoadedCondition {
    let entity: Entity
    let schema: EntitySchema

    var sql: String {
        let outstanding = [SecondaryIndexes.setting(entity.name), PostponedFigures.setting(entity.name)]
            .map { $0.quoted(by: "'") }.joined(separator: ", ")
        return "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM sync_setting WHERE name IN (\(outstanding)))"
            + pulls.map { " AND \($0)" }.joined()
    }

    private var pulls: [String] {
        guard entity.pull == nil else { return [hasEnded(entity)] }
        return schema.entities.flatMap { parent in
            guard let pull = parent.pull, let detail = pull.details.first(where: { $0.entity == entity.name }) else {
                return [String]()
            }
            let fetch = detail.isInList ? nil : pull.fetch
            return [hasEnded(parent)] + (fetch.map { [hasFetched(parent, $0)] } ?? [])
        }
    }

    private func hasEnded(_ entity: Entity) -> String {
        """
        EXISTS (SELECT 1 FROM sync_cursor WHERE entity = \(entity.name.quoted(by: "'"))
          AND last_synced_at IS NOT NULL AND pull ->> '$.began' IS NULL)
        """
    }

    /// Children that take a call for each parent have a cursor once all have been fetched. Older versions wrote none.
    private func hasFetched(_ parent: Entity, _ fetch: PullPlan.Fetch) -> String {
        let parents = EntityTable(entity: parent)
        return """
            (EXISTS (SELECT 1 FROM sync_cursor WHERE entity = \(entity.name.quoted(by: "'")) AND last_synced_at IS NOT NULL)
              OR NOT EXISTS (SELECT 1 FROM \(parents.name) WHERE \(parents.outdated(fetch)) AND _detail IS NULL))
            """
    }
}

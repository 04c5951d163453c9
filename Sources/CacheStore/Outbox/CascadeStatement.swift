internal import EntitySchema

/// The statements about all records that are deleted with one: those that refer to it with `cascade`, those that refer to
/// these, and so on, as readers see them.
///
/// One recursive query walks them and SQLite keeps what it has found, so neither long chains nor many records take memory
/// here. Each record comes once, also in a ring: first the record itself, whose key is ?1, and each after its owner.
struct CascadeStatement {
    /// A relation to records that refer to those of `owner`.
    struct Relation {
        let owner: Entity
        let name: String
        let field: String
        let rule: DeleteRule
        let child: EntityTable

        static func all(of owner: Entity, in schema: EntitySchema) -> [Relation] {
            owner.relations.compactMap { relation in
                guard case .many(let field, let rule) = relation.kind, let child = schema[relation.entity] else {
                    return nil
                }
                return Relation(
                    owner: owner, name: relation.name, field: field, rule: rule, child: EntityTable(entity: child))
            }
        }
    }

    let start: Entity
    /// Those of all entities that records of the walk can be of.
    let relations: [Relation]

    init(from start: Entity, in schema: EntitySchema) {
        var relations: [Relation] = []
        var entities = [start]
        var next = 0
        while next < entities.count {
            let own = Relation.all(of: entities[next], in: schema)
            next += 1
            relations += own
            for relation in own where relation.rule == .cascade {
                let child = relation.child.entity
                if !entities.contains(where: { $0.name == child.name }) { entities.append(child) }
            }
        }
        self.start = start
        self.relations = relations
    }

    /// A record whose deletion a rule denies: the place of the relation, the record's key and the number of records that
    /// refer to it. Nil without such a rule.
    var denied: String? {
        select { place, relation in
            guard relation.rule == .deny else { return nil }
            return """
                SELECT \(place), _owner, (SELECT count(*) FROM \(relation.child.name)
                    WHERE _deleted = 0 AND \(relation.child.sql(for: relation.field)) = _owner) AS _count
                  FROM walk WHERE _entity = '\(relation.owner.name)' AND _count > 0
                """
        }.map { "\($0) LIMIT 1" }
    }

    /// Entity and key of the other records that have queued changes. Nil if there are no other records.
    var changed: String? {
        guard relations.contains(where: { $0.rule == .cascade }) else { return nil }
        return """
            \(walk) SELECT _entity, _owner FROM walk
            WHERE EXISTS (SELECT 1 FROM sync_outbox WHERE entity = _entity AND record_key = _owner)
              AND NOT (_entity = '\(start.name)' AND _owner = ?1)
            """
    }

    /// The place of a relation, and the key of a record that the upstream has there, or may have, since its creation was
    /// sent so, and that readers do not see there. Nil without relations.
    var departed: String? {
        select { place, relation in
            guard relation.rule != .nullify else { return nil }
            let (child, field) = (relation.child, relation.field)
            let isThere = "IN (SELECT _owner FROM walk WHERE _entity = '\(relation.owner.name)')"
            let created = "CAST(creation.body ->> '$.\"\(field)\"' AS TEXT)"
            return """
                \(child.displaced(by: field, isThere, "\(place), _key"))
                UNION ALL SELECT \(place), record_key FROM sync_outbox AS creation
                  WHERE entity = '\(child.entity.name)' AND operation = 'create' AND \(created) \(isThere)
                    AND NOT EXISTS (
                      SELECT 1 FROM \(child.name) WHERE _key = creation.record_key AND _deleted = 0
                        AND \(child.sql(for: field)) = \(created))
                """
        }
    }

    // MARK: Parts

    /// All parts in one statement, so that there is one walk; nil if there are none.
    private func select(_ part: (_ place: Int, _ relation: Relation) -> String?) -> String? {
        let parts = relations.indices.compactMap { part($0, relations[$0]) }
        return parts.isEmpty ? nil : "\(walk) \(parts.joined(separator: " UNION ALL "))"
    }

    private var walk: String {
        let steps = relations.filter { $0.rule == .cascade }.map { relation in
            """
             UNION SELECT '\(relation.child.entity.name)', _key FROM walk CROSS JOIN \(relation.child.name)
              WHERE _entity = '\(relation.owner.name)' AND _deleted = 0
                AND \(relation.child.sql(for: relation.field)) = _owner
            """
        }
        return """
            WITH RECURSIVE walk (_entity, _owner) AS MATERIALIZED (
              SELECT '\(start.name)', ?1\(steps.joined()))
            """
    }
}

internal import EntitySchema

/// Skips what needs no refresh: nearly all records of a pull, because the server usually sends the aggregates itself.
///
/// A record without local changes affects an aggregate of another record only if the server does not send that
/// aggregate; if the server sends it, only local changes are added.
extension StaleTriggers {
    /// Whether an overlay may be needed for the version that the server now has of the record.
    var mayBeLaidOver: String {
        let fields = entity.derivedFields.map { field in
            guard let figure = figure(field) else { return "true" }
            return "\(isUnsaid(field, "NEW._remote")) OR \(hasDifferingChildren(figure))"
        }
        return (["NEW._document IS NOT NULL", "NEW._derived IS NOT NULL"] + fields).joined(separator: " OR ")
    }

    /// Whether `row` may affect the aggregates of the record with `key`.
    func mayCount(_ row: String, for tie: Entity.Tie, _ key: String) -> String {
        guard let parent = schema[tie.entity] else { return "true" }
        let fields = parent.fields.filter { field in
            guard case .children(let figure) = field.derivation,
                case .many(let reference, _) = parent[relation: figure.relation]?.kind
            else { return false }
            return reference == tie.field && parent[relation: figure.relation]?.entity == entity.name
        }
        guard !fields.isEmpty, fields.allSatisfy({ figure($0) != nil }) else { return "true" }
        let unsaid = fields.map { isUnsaid($0, "_remote") }.joined(separator: " OR ")
        return """
            \(row)._document IS NOT NULL OR \(row)._deleted <> 0 OR EXISTS (
                SELECT 1 FROM \(EntityTable(entity: parent).name) WHERE _key = \(key) AND (\(unsaid)))
            """
    }

    /// The field's aggregate over children, if the server's value and the differing children are enough to compute it.
    /// The latest child needs all of them.
    private func figure(_ field: Field) -> ChildFigure? {
        guard case .children(let figure) = field.derivation else { return nil }
        if case .latest = figure.measure { return nil }
        return figure
    }

    /// Also true if the server sends the value under another path.
    private func isUnsaid(_ field: Field, _ record: String) -> String { "\(record) ->> '$.\"\(field.name)\"' IS NULL" }

    private func hasDifferingChildren(_ figure: ChildFigure) -> String {
        guard let relation = entity[relation: figure.relation], case .many(let name, _) = relation.kind,
            let child = schema[relation.entity].map({ EntityTable(entity: $0) }),
            let reference = child.entity[field: name]
        else { return "true" }
        // Each side has an index.
        let sides = [child.sql(for: name), child.expression(for: reference, in: "_remote")]
        return sides.map { side in
            "EXISTS (SELECT 1 FROM \(child.name) WHERE \(EntityTable.differs) AND \(side) = NEW._key)"
        }.joined(separator: " OR ")
    }
}

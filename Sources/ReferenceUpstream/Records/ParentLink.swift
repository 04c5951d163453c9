internal import EntitySchema

/// How a record refers to its parent, and what changes in the parent when the record is created, changed or deleted.
struct ParentLink: Sendable {
    var parent: String
    var child: String
    /// Holds the parent's key in the child.
    var field: String
    /// Counts the children in the parent: `message_count` for a relation called `messages`.
    var count: String?
    /// Changes when the children do, for clients that pull the parent.
    var whenChanged: String?
    /// What happens to the children when the parent is deleted.
    var onDelete: DeleteRule

    /// Every link in a schema, from its `many` relations and its details.
    static func all(in schema: EntitySchema) -> [ParentLink] {
        schema.entities.flatMap { parent in
            var links = parent.relations.compactMap { relation -> ParentLink? in
                guard case .many(let field, let onDelete) = relation.kind else { return nil }
                return ParentLink(
                    parent: parent.name, child: relation.entity, field: field,
                    count: countField(of: parent, relation: relation.name), onDelete: onDelete)
            }
            for detail in parent.pull?.details ?? [] {
                let whenChanged = detail.isInList ? nil : parent.pull?.whenChanged ?? parent.pull?.changedAt
                guard let field = detail.by ?? links.first(where: { $0.child == detail.entity })?.field else {
                    continue
                }
                if let index = links.firstIndex(where: { $0.child == detail.entity && $0.field == field }) {
                    links[index].whenChanged = whenChanged
                    if detail.goesAlong { links[index].onDelete = .cascade }
                } else {
                    links.append(
                        ParentLink(
                            parent: parent.name, child: detail.entity, field: field, whenChanged: whenChanged,
                            onDelete: detail.goesAlong ? .cascade : .keep))
                }
            }
            return links
        }
    }

    private static func countField(of parent: Entity, relation: String) -> String? {
        let singular = relation.hasSuffix("s") ? String(relation.dropLast()) : relation
        return ["\(singular)_count", "\(relation)_count"].first {
            parent[field: $0]?.kind == .integer && parent[field: $0]?.derivation == nil
        }
    }
}

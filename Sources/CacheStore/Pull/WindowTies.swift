internal import EntitySchema
internal import GRDB

/// The records of other entities on which a record outside of its entity's window depends: those that refer to it keep
/// it, and those that only come with it leave with it.
///
/// A child that is deleted with its record (`on_delete: cascade`) does not keep it, or no record with children would ever
/// leave. A local-only child does: it is nowhere else.
struct WindowTies {
    struct Link {
        let table: EntityTable
        /// The field with the key of the record.
        let field: String
        /// Whether the records are of the same entity: then one may refer to itself.
        let isOwn: Bool
    }

    /// Records that keep it.
    let references: [Link]
    /// Records that leave with it: they have no list of their own.
    let children: [Link]

    init(of entity: Entity, in schema: EntitySchema) {
        var references: [Link] = []
        var children: [Link] = []
        for other in schema.entities {
            let details = schema.parents(of: other).filter { $0.parent.name == entity.name }.compactMap(\.detail.by)
            for field in other.fields where field.kind == .reference(to: entity.name) {
                let link = Link(
                    table: EntityTable(entity: other), field: field.name, isOwn: other.name == entity.name)
                let isOwned =
                    details.contains(field.name)
                    || other.ties.contains {
                        $0.entity == entity.name && $0.field == field.name && $0.onDelete == .cascade
                    }
                if other.isLocal || !isOwned {
                    references.append(link)
                } else if other.pull == nil {
                    children.append(link)
                }
            }
        }
        let keepsAll = entity.pull?.window?.keepsReferenced ?? true
        self.references = keepsAll ? references : references.filter(\.table.entity.isLocal)
        self.children = children
    }

    func isReferenced(_ key: String, _ db: Database) throws -> Bool {
        for link in references {
            let sql = "SELECT EXISTS (\(link.referring(to: "?1")))"
            if try Bool.fetchOne(db.cachedStatement(sql: sql), arguments: [key]) == true { return true }
        }
        return false
    }
}

extension WindowTies.Link {
    /// Selects the records that refer to `key`, an expression. A record does not keep itself.
    func referring(to key: String) -> String {
        "SELECT 1 FROM \(table.name) AS other WHERE other._deleted = 0 "
            + "AND \(table.sql(for: field, of: "other.")) = \(key)" + (isOwn ? " AND other._key <> \(key)" : "")
    }
}

internal import EntitySchema

/// What depends on one entity's records, by the schema: records that are computed from them, and those that are deleted with them.
extension RecordPlan {
    static func references(
        _ entity: Entity, _ schema: EntitySchema, _ marks: [String: RecordMarks], watched: [String]
    ) -> [Reference] {
        entity.ties.map { tie in
            let counted = counted(by: tie, entity, schema)
            return Reference(
                tie: tie, place: watched.firstIndex(of: tie.field) ?? 0, counted: fields(counted, in: watched),
                isSimple: isSimple(tie, entity, schema), unsaid: marks[tie.entity]?.unsaid)
        }
    }

    static func owned(by entity: Entity, _ schema: EntitySchema) -> [Owned] {
        schema.entities.flatMap { child in
            child.ties.filter { $0.entity == entity.name && $0.onDelete == .cascade }.map { tie in
                Owned(table: EntityTable(entity: child), field: tie.field)
            }
        }
    }

    static func watched(
        _ entity: Entity, _ schema: EntitySchema, _ reminders: [ReminderSchedule], _ search: SearchTable?
    ) -> [String] {
        var names = EntityTable(entity: entity).storedFields.map(\.name)
        names += entity.ties.flatMap { [$0.field] + counted(by: $0, entity, schema).sorted() }
        names += reminders.flatMap(\.fields)
        names += search?.parts.flatMap(\.fields) ?? []
        names += entity.derivedFields.flatMap { [$0.name] + ($0.derivation?.ownFields ?? []) }
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }

    /// The fields of this entity that the figures of the tied entity read.
    private static func counted(by tie: Entity.Tie, _ entity: Entity, _ schema: EntitySchema) -> [String] {
        guard tie.isCounted, let parent = schema[tie.entity] else { return [] }
        return RelationAggregates.all(of: EntityTable(entity: parent), in: schema)
            .filter { $0.child.entity.name == entity.name && $0.reference.name == tie.field }.flatMap(\.fieldsLookedAt)
    }

    private static func isSimple(_ tie: Entity.Tie, _ entity: Entity, _ schema: EntitySchema) -> Bool {
        guard let parent = schema[tie.entity] else { return false }
        let fields = parent.fields.filter { field in
            guard case .children(let figure) = field.derivation,
                case .many(let reference, _) = parent[relation: figure.relation]?.kind
            else { return false }
            return reference == tie.field && parent[relation: figure.relation]?.entity == entity.name
        }
        return !fields.isEmpty && fields.allSatisfy(isSimpleFigure)
    }

    /// A count or sum of children: the server's value and the differing children are enough to compute it. The latest
    /// child needs all of them.
    static func isSimpleFigure(_ field: Field) -> Bool {
        guard case .children(let figure) = field.derivation else { return false }
        if case .latest = figure.measure { return false }
        return true
    }
}

extension Field {
    /// Its place among the watched fields.
    func place(in names: [String]) -> Int { names.firstIndex(of: name) ?? 0 }
}

internal import EntitySchema
internal import SQLiteStore

/// The plans of all entities.
struct RecordPlans: Sendable {
    let schema: EntitySchema
    /// Those of the writing connection.
    let statements = WriterStatements()
    let queue: QueueStatements
    let searchBacklog = SearchBacklog()
    let added: AddedMembers
    /// Whether no write reads a figure of another record, which is computed from that one's children.
    let canPostponeFigures: Bool
    private let plans: [String: RecordPlan]

    /// `added`: where to note what records have of the members that answers add. `marks`: those of each entity.
    init(
        _ schema: EntitySchema, hooks: [HookRule] = [], _ numbers: inout StatementNumbers,
        noting added: AddedMembers = AddedMembers(), marks: [String: RecordMarks]? = nil
    ) {
        self.schema = schema
        self.added = added
        let marks = marks ?? RecordMarks.all(of: schema)
        var plans: [String: RecordPlan] = [:]
        for entity in schema.entities {
            plans[entity.name] = RecordPlan(entity, in: schema, hooks: hooks, marks: marks, &numbers)
        }
        self.plans = plans
        canPostponeFigures = !schema.entities.contains { $0.readsFigures(in: schema) }
        queue = QueueStatements(&numbers)
    }

    /// Nil for an entity that the schema does not have.
    subscript(entity: String) -> RecordPlan? { plans[entity] }
}

extension Entity {
    /// Whether a default or a path of its records has a figure of another record.
    fileprivate func readsFigures(in schema: EntitySchema) -> Bool {
        let inDefaults = fields.flatMap { field in
            if case .text(let pattern) = field.initial?.value { pattern.names } else { [] as [String] }
        }
        return (farNames + inDefaults).contains { name in
            guard let far = far(name), case .children = schema[far.entity]?[field: far.field]?.derivation else {
                return false
            }
            return true
        }
    }
}

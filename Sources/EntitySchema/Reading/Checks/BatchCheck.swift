/// Checks that batches of a push route say all of a change, and name only fields that may be sent.
struct BatchCheck {
    let schema: EntitySchema
    let root: SchemaNode
    let error: (_ entity: Entity, _ place: String, _ problem: String) -> SchemaError

    func run() throws(SchemaError) {
        let writes = schema.entities.contains { entity in
            Operation.allCases.contains { !entity.routes(for: $0).isEmpty }
        }
        if schema.upstream.batch != nil, writes, !schema.withBatches.hasBatches,
            let node = root.child("upstream")?.child("batch")
        {
            throw node.error("no route of push can be part of a batch, so it has no effect; remove batch")
        }
        for entity in schema.withBatches.entities { try checkLostAnswers(of: entity) }
        for entity in schema.entities {
            for operation in Operation.allCases {
                for route in entity.routes(for: operation) {
                    guard let plan = route.batch else { continue }
                    try check(plan, route, operation, of: entity)
                }
            }
        }
    }

    /// An upstream that knows a repeat by its key takes a lost creation again, but only under a key that the batch has
    /// shown. Without one it is looked up, and without a look-up it would fail and wait for a person.
    private func checkLostAnswers(of entity: Entity) throws(SchemaError) {
        for route in entity.push.create where route.lookUp == nil {
            guard schema.upstream.keyHeader(of: .create) != nil || route.namesKey, let plan = route.batch,
                plan.elements[.create] != nil, !route.isKeyShown(in: plan, for: .create)
            else { continue }
            let place = schema.upstream.batch == plan ? "push.create" : "push.create.batch"
            throw error(
                entity, place,
                "if the answer to a batch is lost, this creation could not be repeated: write {$key} in each element of "
                    + "the batch, add look_up to the route, or send it alone with batch: false")
        }
    }

    private func check(
        _ plan: BatchPlan, _ route: PushRoute, _ operation: Operation, of entity: Entity
    ) throws(SchemaError) {
        let place = "push.\(operation).batch"
        guard route.fitsBatches else {
            throw error(entity, place, "a batch is JSON, so a form or a file cannot be part of it; remove batch")
        }
        guard route.fits(plan, operation) else {
            throw error(
                entity, place,
                "the body of \(route.call) has no $fields, so an element of a batch that has them would be another change; "
                    + "write $body in their place, or batch: false")
        }
        for name in plan.fieldNames.sorted() {
            guard let field = entity[field: name] else {
                throw error(entity, place, Suggestion.noField(name, of: entity))
            }
            guard !field.isStoredSealed else {
                throw error(entity, place, "\(name) is \(field.sealingWord), so it is sent only as one of $fields")
            }
        }
        try plan.elements[operation]?.checkSlots(of: operation) { error(entity, place, $0) }
    }
}

extension EntitySchema {
    /// Gives each route that has no batch of its own the upstream's.
    var withBatches: EntitySchema {
        guard let shared = upstream.batch else { return self }
        func batched(_ routes: [PushRoute], _ operation: Operation) -> [PushRoute] {
            routes.map { route in
                guard route.batch == nil, route.fitsBatches, route.fits(shared, operation) else { return route }
                var route = route
                route.batch = shared
                return route
            }
        }
        var schema = self
        for (index, entity) in entities.enumerated() {
            schema.entities[index].push = PushPlan(
                create: batched(entity.push.create, .create), update: batched(entity.push.update, .update),
                delete: batched(entity.push.delete, .delete))
        }
        return schema
    }

    /// Whether any change may go out together with others.
    package var hasBatches: Bool { entities.contains { $0.push.routes.contains { $0.batch != nil } } }
}

package import JSONText

/// Which of the schema's push routes a change takes.
extension Entity {
    package func routes(for operation: Operation) -> [PushRoute] {
        switch operation {
        case .create: push.create
        case .update: push.update
        case .delete: push.delete
        }
    }

    /// The operations that callers may use: those with a route, and all of them for a local-only entity.
    package var operations: [Operation] { Operation.allCases.filter(supports) }

    package func supports(_ operation: Operation) -> Bool { isLocal || !routes(for: operation).isEmpty }

    /// Whether a new record is sent together with its content, and not without it.
    package var isCreatedWithContent: Bool { push.create.contains { $0.file != nil } }

    /// The first route of the operation whose conditions the record meets and that can send all of `fields`.
    package func route(for operation: Operation, record: JSONText, fields: [String] = []) -> PushRoute? {
        place(ofRouteFor: operation, record: record, fields: fields).map { routes(for: operation)[$0] }
    }

    /// The fields that the body of a change names besides those that it sends, such as the version that it is based on.
    package func fieldsNamed(in operation: Operation, record: JSONText, besides fields: [String]) -> [String] {
        let names = route(for: operation, record: record, fields: fields)?.envelope?.names ?? []
        return names.filter { !fields.contains($0) }
    }

    /// Whether there is one. Costs less than to get it.
    package func hasRoute(for operation: Operation, record: JSONText, fields: [String] = []) -> Bool {
        place(ofRouteFor: operation, record: record, fields: fields) != nil
    }

    /// Its place among the routes of the operation.
    func place(ofRouteFor operation: Operation, record: JSONText, fields: [String] = []) -> Int? {
        let routes = routes(for: operation)
        // By index, because a walk over the routes copies each of them.
        return routes.indices.first { index in
            routes[index].isMet(by: record, of: self)
                && (operation != .update || fields.allSatisfy { canSend($0, on: routes[index]) })
        }
    }

    /// How a change goes out together with others; nil if it goes by itself.
    package func batchPlan(for operation: Operation, record: JSONText, fields: [String]) -> BatchPlan? {
        guard let plan = route(for: operation, record: record, fields: fields)?.batch, plan.elements[operation] != nil
        else { return nil }
        return plan
    }

    /// Whether a request can send the field.
    package func canSend(_ field: String, by operation: Operation) -> Bool {
        canSend(.object(members: [(key: field, value: .null)]), by: operation)
    }

    /// Whether one request can send all of `body`, the fields of a new or changed record.
    package func canSend(_ body: JSONText, by operation: Operation) -> Bool {
        let fields = body.members.map(\.key)
        return routes(for: operation).contains { route in
            let known =
                operation == .create ? route.path.placeholders.map(ownField) + route.conditions.keys + [key] : []
            return fields.allSatisfy { known.contains($0) || canSend($0, on: route) }
        }
    }

    /// Whether a request of this route can send the field. A queued change may name one that is computed here by now.
    func canSend(_ field: String, on route: PushRoute) -> Bool { route.canSend(field) && !isDerivedHere(field) }
}

extension PushRoute {
    func isMet(by record: JSONText, of entity: Entity) -> Bool {
        conditions.allSatisfy { entity.value(of: $0.key, in: record)?.plain == $0.value }
    }

    /// Method and path, as in the schema.
    package var call: String { "\(method) \(path.source)" }

    /// The names that a body may have; nil for any.
    package var wireNames: Set<String>? { (body?.names ?? fields.map(Set.init)).map { $0.union(html.keys) } }

    /// The fields that it can send; nil for any.
    package var sendable: [String]? {
        let named = fields ?? body.map { Set($0.fields).sorted() }
        return named.map { named in named + html.values.filter { !named.contains($0) }.sorted() }
    }

    /// Whether `sendable` has the field.
    package func canSend(_ field: String) -> Bool {
        guard let isNamed = fields?.contains(field) ?? body?.fields.contains(field) else { return field != file }
        return isNamed || html.values.contains(field)
    }
}

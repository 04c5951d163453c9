/// How records of a collection are created, changed and deleted.
struct WriteGuess {
    let shapes: ShapeReader
    let collection: Collection
    let filler: PathFiller
    /// The path of the list, with fields of a record.
    let listPath: String

    private var item: DataShape { collection.answer.item }
    private var key: String { collection.key.value }

    /// Sets the routes of the entity, how keys are made, which fields are required, and what is missing.
    func complete(_ entity: inout DraftEntity) {
        addCreation(to: &entity)
        addUpdate(to: &entity)
        addDeletion(to: &entity)
    }

    // MARK: Creation

    private func addCreation(to entity: inout DraftEntity) {
        let upsert = collection.recordCalls["PUT"].flatMap {
            Self.isCreation($0) && collection.creation == nil ? $0 : nil
        }
        guard let operation = collection.creation ?? upsert else { return }
        do throws(BodyGuess.Problem) {
            let found = try BodyGuess(shapes: shapes, fields: entity.fields).found(in: operation)
            let isUpsert = collection.creation == nil
            setKey(of: &entity, found, isUpsert: isUpsert)
            var route = route(operation, found)
            let isOwn = entity.keyMade == nil
            if let fields = found.fields {
                let names = fields.map(\.name).filter { $0 != key || isOwn }
                guard !names.isEmpty else { return entity.todos.append(todo("create", operation, "no field is sent")) }
                route.fields = names
                require(found.required, &entity, among: names)
            }
            route.lookUp = lookUp(entity, found.fields ?? [], isOwn: isOwn)
            entity.create = route
            if route.lookUp == nil {
                entity.todos.append(
                    "push.create.look_up: { match: […] }, so that a creation whose answer is lost is not made twice")
            }
        } catch {
            entity.todos.append(todo("create", operation, error.reason))
        }
    }

    private static func isCreation(_ operation: APIOperation) -> Bool {
        let words = operation.words.lowercased()
        return words.contains("create") || words.contains("upsert")
    }

    private func setKey(of entity: inout DraftEntity, _ found: BodyGuess.Found, isUpsert: Bool) {
        let field = entity[key]
        let sendsKey = found.fields?.contains { $0.name == key } ?? false
        let isText = field?.kind == .simple("string") || field?.kind.isReference == true
        if isUpsert || sendsKey && isText {
            entity.keyMade = nil
        } else {
            entity.keyMade = Guess("server", "a creation does not send \(key)")
        }
    }

    private func require(_ required: Set<String>, _ entity: inout DraftEntity, among names: [String]) {
        for index in entity.fields.indices {
            let field = entity.fields[index]
            if required.contains(field.wireName), names.contains(field.name), !field.isSecret,
                field.name != key || entity.keyMade == nil
            {
                entity.fields[index].isRequired = true
            }
        }
    }

    private func lookUp(_ entity: DraftEntity, _ sent: [DraftField], isOwn: Bool) -> DraftRoute.LookUp? {
        if isOwn, entity.pull != nil, collection.single != nil { return .key }
        let shown = sent.filter { field in
            item[field.wireName] != nil && field.isPlain && !field.isSecret
                && (entity[field.name]?.from).map { !$0.contains("*") } ?? true
        }
        let required = shown.filter { entity[$0.name]?.isRequired == true }
        let names = Array((required.isEmpty ? shown : required).prefix(3)).map(\.name)
        return names.isEmpty ? nil : .match(names, path: entity.pull == nil ? listPath : nil)
    }

    // MARK: Updates and deletions

    private func addUpdate(to entity: inout DraftEntity) {
        var calls = ["PATCH", "PUT"].compactMap { collection.recordCalls[$0] }
        // As Stripe and others have it.
        if calls.isEmpty, let post = collection.recordCalls["POST"], post.words.lowercased().contains("update") {
            calls = [post]
        }
        var reasons: [String] = []
        for operation in calls {
            do throws(BodyGuess.Problem) {
                let found = try BodyGuess(shapes: shapes, fields: entity.fields).found(in: operation)
                var route = route(operation, found)
                if let fields = found.fields {
                    let names = fields.map(\.name).filter { $0 != key }
                    guard !names.isEmpty else { throw BodyGuess.Problem(reason: "no field of the record is sent") }
                    route.fields = names
                }
                entity.update = route
                return
            } catch {
                reasons.append(todo("update", operation, error.reason))
            }
        }
        entity.todos += reasons.prefix(1)
    }

    private func addDeletion(to entity: inout DraftEntity) {
        guard let operation = collection.recordCalls["DELETE"] else { return }
        if let needed = operation.queries.first(where: { $0.isRequired && $0.shape.initial == nil }) {
            return entity.todos.append(todo("delete", operation, "it needs the parameter \(needed.name)"))
        }
        if !operation.bodies.isEmpty, operation.bodies.contains(where: { !$0.shape.required.isEmpty }) {
            return entity.todos.append(todo("delete", operation, "it needs a body"))
        }
        entity.delete = DraftRoute(call: filler.call("DELETE", operation.path, list: collection.path))
    }

    // MARK: Parts

    private func route(_ operation: APIOperation, _ found: BodyGuess.Found) -> DraftRoute {
        var route = DraftRoute(call: filler.call(operation.method, operation.path, list: collection.path))
        route.body = found.body
        route.encoding = found.encoding
        let fields = found.fields ?? []
        if fields.contains(where: { $0.name != $0.wireName }) { route.names = fields.map { ($0.wireName, $0.name) } }
        let place = RecordPlace(shapes: shapes, key: key, name: Words.folded(Words.singular(collection.name)))
        route.record = place.place(in: operation.answer)
        if found.fields == nil { route.reason = "the document does not say which fields it takes" }
        return route
    }

    private func todo(_ operation: String, _ call: APIOperation, _ reason: String) -> String {
        "push.\(operation): { call: \"\(call.method) \(call.path.text)\" }: \(reason)"
    }
}

/// How records of a collection are created, changed and deleted.
struct WriteGuess {
    let shapes: ShapeReader
    let collection: Collection
    let filler: PathFiller
    /// The path of the list, with fields of a record.
    let listPath: String
    /// That of a creation below a record of another list.
    var creationPath: CreationPath?

    private var item: DataShape { collection.answer.item }
    private var key: String { collection.key.value }

    /// Sets the routes of the entity, how keys are made, which fields are required, and what is missing.
    func complete(_ entity: inout DraftEntity) {
        addCreation(to: &entity)
        addUpdate(to: &entity)
        addDeletion(to: &entity)
        addMissing(to: &entity)
    }

    // MARK: Creation

    private func addCreation(to entity: inout DraftEntity) {
        let upsert = collection.recordCalls["PUT"].flatMap { $0.isCreation ? $0 : nil }
        guard let operation = collection.creation ?? upsert else { return }
        do throws(BodyGuess.Problem) {
            try check(operation, entity)
            let found = try BodyGuess(shapes: shapes, fields: entity.fields).found(in: operation)
            setKey(of: &entity, found, isUpsert: collection.creation == nil)
            var route = route(operation, found)
            addPath(to: &route, operation, &entity)
            let isOwn = entity.keyMade == nil
            if let fields = found.fields {
                let names = fields.map(\.name).filter { $0 != key || isOwn }
                guard !names.isEmpty else { throw BodyGuess.Problem(reason: "no field is sent") }
                try checkNeeded(found)
                route.fields = names
                // Where each record has its key, `required` says what it shows.
                let hasKey = fields.contains { $0.name == key && found.required.contains($0.wireName) }
                if isKept(found) || !hasKey { require(found.required.subtracting(found.spared), of: fields, &entity) }
            }
            route.lookUp = LookUpGuess(
                shapes: shapes, collection: collection, entity: entity, listPath: listPath, creationPath: creationPath
            ).lookUp(found.fields ?? [], needed: found.required, isKept: isOwn && isKept(found))
            if case .match? = route.lookUp, route.reason == nil {
                route.reason = "look_up: by what a creation sends; check that it tells two records apart"
            }
            entity.create = route
            if route.lookUp == nil {
                entity.todos.append(
                    "push.create.look_up: { match: […] }, so that a creation whose answer is lost is not made twice")
            }
        } catch {
            entity.todos.append(todo("create", operation, error.reason))
        }
    }

    private func addPath(to route: inout DraftRoute, _ operation: APIOperation, _ entity: inout DraftEntity) {
        guard let creationPath, let index = entity.fields.firstIndex(where: { $0.name == creationPath.field }) else {
            return
        }
        route.call = "\(operation.method) \(creationPath.text)\(FixedParameter.query(of: operation) ?? "")"
        entity.fields[index].isRequired = true
    }

    /// Whether a call creates a record of this list, and answers it.
    private func check(_ operation: APIOperation, _ entity: DraftEntity) throws(BodyGuess.Problem) {
        if let verb = operation.otherDeed {
            throw BodyGuess.Problem(reason: "it is described as a call to \(verb) something")
        }
        guard let answer = answered(operation), !answer.properties.isEmpty else { return }
        let names = Set(answer.properties.map(\.name))
        let own = Set(entity.fields.map(\.wireName)).union(item.properties.map(\.name))
        let stems = [Words.singular(collection.name)] + PathParameter.stems(of: collection.path, last: 1).prefix(1)
        let ids = Set(stems.map { Words.folded($0) + "id" })
        if let id = names.first(where: { ids.contains(Words.folded($0)) }), names.contains(key), !own.contains(id) {
            throw BodyGuess.Problem(reason: "it answers another record, which names this one by \(id)")
        }
        let shared = names.intersection(own).count
        // An answer without the key and anything else of the record may be an envelope; one with little more than the key
        // says too little.
        guard shared > 0 || names.contains(key), min(names.count, own.count) > 3,
            shared * 10 < 6 * min(names.count, own.count)
        else { return }
        throw BodyGuess.Problem(
            reason: "it answers another record (\(answer.properties.prefix(5).map(\.name).joined(separator: ", ")))")
    }

    /// The record in the answer of a call.
    private func answered(_ operation: APIOperation) -> DataShape? {
        guard let answer = operation.answer else { return nil }
        guard let names = place.names(in: answer) else { return answer.isList ? shapes.elements(of: answer) : answer }
        return names.reduce(Optional(answer)) { shape, name in
            shape.flatMap { name == "0" ? shapes.elements(of: $0) : $0[name].map(shapes.shape) }
        }
    }

    private var place: RecordPlace { RecordPlace(of: collection, shapes) }

    /// The daemon makes keys only where the upstream requires them or users choose them. An upstream that ignores our key
    /// would hide a creation whose answer was lost.
    private func setKey(of entity: inout DraftEntity, _ found: BodyGuess.Found, isUpsert: Bool) {
        let field = entity[key]
        let sent = found.fields?.first { $0.name == key }
        let isText = field?.kind == .simple("string") || field?.kind.isReference == true
        let isChosen = sent.map { found.required.contains($0.wireName) } == true || !Self.isMade(key)
        if isUpsert || sent != nil && isText && isChosen {
            entity.keyMade = nil
        } else if sent != nil {
            entity.keyMade = Guess("server", "a creation does not need \(key)")
        } else {
            entity.keyMade = Guess("server", "a creation does not send \(key)")
        }
    }

    /// Whether the upstream keeps a key that a creation sends. A body that is the record as it is shown has the key
    /// also where the upstream makes it: looked up by the key sent, a creation would then be made twice.
    private func isKept(_ found: BodyGuess.Found) -> Bool {
        let shown = [item, collection.single.flatMap(answered)].compactMap(\.self)
        return collection.creation == nil || !Self.isMade(key)
            || !shown.contains { $0.name == found.members?.name && $0.required == found.members?.required }
    }

    /// Whether keys of this name are mostly made by the upstream.
    private static func isMade(_ name: String) -> Bool {
        PathParameter.ends(name) || ["number", "uid"].contains(Words.lastWord(of: name))
    }

    /// `required`: the members that the body of a creation must have with a value; it may spell them otherwise than the record.
    private func require(_ required: Set<String>, of sent: [DraftField], _ entity: inout DraftEntity) {
        for field in sent where required.contains(field.wireName) && !field.isSecret {
            guard field.name != key || entity.keyMade == nil,
                let index = entity.fields.firstIndex(where: { $0.name == field.name })
            else { continue }
            entity.fields[index].isRequired = true
        }
    }

    // MARK: Updates and deletions

    private func addUpdate(to entity: inout DraftEntity) {
        var calls = ["PATCH", "PUT"].compactMap { collection.recordCalls[$0] }
        var reasons: [String] = []
        if calls.isEmpty, let keyed = collection.keyed.update {
            do throws(BodyGuess.Problem) {
                var route = try update(by: keyed.call, entity, keyed)
                route.call += KeyedCalls.query(keyed.parameter, of: key, after: route.call)
                entity.update = route
                return
            } catch {
                reasons.append(todo("update", keyed.call, error.reason))
            }
        }
        // As Stripe and others have it.
        if calls.isEmpty, let post = collection.recordCalls["POST"],
            post.words.lowercased().contains("update")
                || ActionCalls.isChange(post.path, base: collection.base)
        {
            calls = [post]
        }
        var routes: [DraftRoute] = []
        for operation in calls {
            do throws(BodyGuess.Problem) {
                routes.append(try update(by: operation, entity))
            } catch {
                reasons.append(todo("update", operation, error.reason))
            }
        }
        entity.update = Self.best(of: routes)
        // A PATCH of the status alone, and a PUT of all but that.
        if let own = entity.update?.fields {
            entity.otherUpdate = routes.first { $0.fields.map(Set(own).isDisjoint) == true }
        }
        if routes.isEmpty { entity.todos += reasons.prefix(1) }
    }

    /// What a call at a record's path does besides storing what it is sent.
    private static let acts: Set = [
        "stop", "cancel", "close", "complete", "finish", "terminate", "abort", "send", "resend", "restore", "run",
        "rerun",
        "retry", "execute", "trigger", "reprocess", "void", "refund", "capture", "pay", "submit", "transfer", "merge",
        "revoke", "reset",
    ]

    /// An edit of any field, sent by a call that stops, sends or deletes something, would do that.
    private func checkUpdate(_ operation: APIOperation) throws(BodyGuess.Problem) {
        let words = operation.titles.flatMap(Words.parts).map(Words.singular)
        let act = ActionCalls.changes.allSatisfy { !words.contains($0) } ? operation.verb(among: Self.acts) : nil
        let sent = Self.sends(operation) ? "send" : nil
        guard let verb = operation.verb(among: Set(ActionCalls.deletions)) ?? act ?? sent else { return }
        throw BodyGuess.Problem(reason: "it is described as a call to \(verb) something")
    }

    /// Whether the first sentence about a call says that it also sends something: `Edits and sends a request`.
    private static func sends(_ operation: APIOperation) -> Bool {
        let sentence = operation.words.prefix { !".\n".contains($0) }.lowercased()
        return sentence.contains(/\b(and|then) (re-?)?sends?\b(?! back)/)
    }

    /// `keyed`: it finds the record by the key in its body or in a parameter.
    private func update(
        by operation: APIOperation, _ entity: DraftEntity, _ keyed: KeyedCalls.Call? = nil
    ) throws(BodyGuess.Problem) -> DraftRoute {
        try checkUpdate(operation)
        let isKeyed = keyed.map { $0.parameter == nil } ?? false
        let found = try BodyGuess(shapes: shapes, fields: entity.fields).found(in: operation)
        var route = route(operation, found)
        guard let fields = found.fields else {
            if isKeyed { throw BodyGuess.Problem(reason: "the document does not say which fields it takes") }
            return route
        }
        let own = fields.first { $0.name == key }
        if isKeyed, own == nil || found.body != .plain { throw BodyGuess.Problem(reason: "its body has no \(key)") }
        let names = fields.map(\.name).filter { $0 != key }
        guard !names.isEmpty else { throw BodyGuess.Problem(reason: "no field of the record is sent") }
        try checkNeeded(found)
        route.fields = names
        UpdateExtent(
            operation: operation, found: found, keyed: keyed, key: key,
            records: [item.name, collection.single.flatMap(answered)?.name].compactMap(\.self),
            isReadable: collection.single != nil
        ).complete(&route)
        return route
    }

    /// The first, unless another sends all that it does and at least as much again: a PATCH of a status beside a PUT of the whole.
    private static func best(of routes: [DraftRoute]) -> DraftRoute? {
        routes.dropFirst().reduce(routes.first) { best, route in
            guard let few = best?.fields, let many = route.fields, many.count >= 2 * few.count,
                Set(many).isSuperset(of: few)
            else { return best }
            return route
        }
    }

    private func addDeletion(to entity: inout DraftEntity) {
        guard var operation = collection.recordCalls["DELETE"] else {
            entity.delete = collection.keyed.deletion.map(deletion)
            return
        }
        let version = version(of: operation, entity)
        operation.parameters.removeAll { $0.place == "query" && $0.name == version?.name }
        if FixedParameter.query(of: operation) == nil {
            let needed = operation.queries.filter(\.isRequired).map(\.name).joined(separator: ", ")
            return entity.todos.append(todo("delete", operation, "it needs the parameter \(needed)"))
        }
        if !operation.bodies.isEmpty, operation.bodies.contains(where: { !$0.shape.required.isEmpty }) {
            return entity.todos.append(todo("delete", operation, "it needs a body"))
        }
        var route = DraftRoute(call: call(operation))
        if let version { route.call += KeyedCalls.query("\(version.name)=", of: version.field, after: route.call) }
        entity.delete = route
    }

    /// The parameter in which a deletion names the version of the record, and the field that has it: `?version={version}`.
    private func version(of deletion: APIOperation, _ entity: DraftEntity) -> (name: String, field: String)? {
        let needed = deletion.queries.first { parameter in
            parameter.isRequired && parameter.shape.preset == nil
                && UpdateExtent.versions.contains(Words.folded(parameter.name))
        }
        guard let name = needed?.name else { return nil }
        let field = entity.fields.first {
            $0.from == nil && $0.isPlain && Words.folded($0.wireName) == Words.folded(name)
        }
        return field.map { (name, $0.name) }
    }

    private func deletion(_ keyed: KeyedCalls.Deletion) -> DraftRoute {
        var route = DraftRoute(call: call(keyed.call))
        route.call += KeyedCalls.query(keyed.parameter, of: key, after: route.call)
        (route.keyMember, route.isKeyInList, route.record) = (keyed.member, keyed.isList, keyed.record)
        return route
    }

    /// Names the calls that do not say which record they change or delete; and that there are none, where records could only be
    /// created. A path of one record whose names are unclear has a TODO of its own.
    private func addMissing(to entity: inout DraftEntity) {
        func isOpen(_ route: DraftRoute?, _ name: String) -> Bool {
            route == nil && !entity.todos.contains { $0.hasPrefix("push.\(name)") }
        }
        let unclear = "it does not name one record by its key"
        let lacksUpdate = isOpen(entity.update, "update")
        let lacksDeletion = isOpen(entity.delete, "delete")
        if lacksUpdate, let call = collection.keyed.unclearUpdate {
            let isOfList = PathPattern.form(Collection.base(of: call.path)) == collection.baseForm
            let isList = call.bodies.first(where: \.isJSON)?.shape.isList == true
            let many =
                isList
                ? "it takes a list; unless that replaces all, write body: [{ <<: $fields, \(key): \"{\(key)}\" }]"
                : "it changes all records, or those that its parameters choose"
            entity.todos.append(todo("update", call, isOfList ? many : unclear))
        }
        if lacksDeletion, let call = collection.keyed.unclearDeletion {
            entity.todos.append(todo("delete", call, unclear))
        }
        guard entity.create != nil, !collection.hasUnclearRecord, lacksUpdate, lacksDeletion, isOpen(nil, "update"),
            isOpen(nil, "delete")
        else { return }
        entity.todos.append(
            "push.update and push.delete: the document has no call that changes or deletes a record; "
                + "write those that the upstream has")
    }

    // MARK: Parts

    private func call(_ operation: APIOperation) -> String {
        filler.call(operation.method, operation.path, list: collection.path)
            + (FixedParameter.query(of: operation) ?? "")
    }

    /// Whether the fields make a body that the upstream takes.
    private func checkNeeded(_ found: BodyGuess.Found) throws(BodyGuess.Problem) {
        guard let needed = found.unsent.first(where: found.required.contains) else { return }
        throw BodyGuess.Problem(reason: "its body needs \(needed), which no field sends")
    }

    private func route(_ operation: APIOperation, _ found: BodyGuess.Found) -> DraftRoute {
        var route = DraftRoute(call: call(operation))
        (route.body, route.isInList) = (found.body, found.isInList)
        route.encoding = found.encoding
        route.beside = found.beside.filter { constant in
            // A field of the record is sent as the record has it.
            constant.value == BodyGuess.key || found.fields?.contains { $0.wireName == constant.name } != true
        }
        let fields = found.fields ?? []
        if fields.contains(where: { $0.name != $0.wireName }) { route.names = fields.map { ($0.wireName, $0.name) } }
        route.record = place.place(in: operation.answer)
        if found.fields == nil { route.reason = "the document does not say which fields it takes" }
        return route
    }

    private func todo(_ operation: String, _ call: APIOperation, _ reason: String) -> String {
        "push.\(operation): { call: \"\(call.method) \(call.path.text)\" }: \(reason)"
    }
}

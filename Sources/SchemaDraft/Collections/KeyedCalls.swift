/// Finds changes and deletions that name the record in what they send: `PUT /orders` with its `id` in the body,
/// `POST /orders/update`, `DELETE /orders?id=`; and reads such as `GET /orders/GetById?id=`.
struct KeyedCalls {
    let calls: [String: [APIOperation]]
    let shapes: ShapeReader

    struct Found: Sendable {
        var read: Call?
        var update: Call?
        var deletion: Deletion?
        /// Calls whose path says that they change or delete a record, for a TODO if it is not clear which one.
        var unclearUpdate: APIOperation?
        var unclearDeletion: APIOperation?
    }

    struct Call: Sendable {
        /// Without the parameter.
        var call: APIOperation
        /// What stands before the key in the address, `id=`; nil if the body has it.
        var parameter: String?
    }

    struct Deletion: Sendable {
        var call: APIOperation
        /// What stands before the key in the address; nil if a member of the body has it.
        var parameter: String?
        var member: String?
        /// The member takes a list of keys.
        var isList = false
        /// Where the answer has the record.
        var record: String?
    }

    func found(for collection: Collection) -> Found {
        if RowFilters.has(collection.list) {
            let own = calls[collection.path.form] ?? []
            return RowFilters(list: collection.list, calls: own).found(key: collection.key.value)
        }
        let changes = calls(collection, ActionCalls.changes)
        let deletions = calls(collection, ActionCalls.deletions)
        return Found(
            read: read(of: collection), update: update(of: collection), deletion: deletion(of: collection),
            unclearUpdate: changes.below.first { $0.method != "GET" }
                ?? changes.own.first {
                    ["PUT", "PATCH"].contains($0.method) && (isOfSome($0, collection) || takesRecords($0, collection))
                },
            unclearDeletion: deletions.below.first { $0.method != "GET" }
                ?? deletions.own.first { $0.method == "DELETE" })
    }

    /// The calls at the path of the list, and those below it with one of these words.
    private func calls(_ collection: Collection, _ words: [String]) -> (own: [APIOperation], below: [APIOperation]) {
        let base = collection.baseForm
        let own = (calls[base] ?? []) + (calls[base + ".json"] ?? [])
        let below = ActionCalls(calls: calls).below(collection.base, words)
        func isFitting(_ call: APIOperation) -> Bool { call.path.parameters == collection.path.parameters }
        return (own.filter(isFitting), below.filter(isFitting))
    }

    // MARK: Updates

    private func update(of collection: Collection) -> Call? {
        let found = calls(collection, ActionCalls.changes)
        let made = collection.creation
        let own = found.own.filter { call in
            let isCreation = call.method == made?.method && call.path == made?.path
            return ["PUT", "PATCH"].contains(call.method) && !isCreation && !call.isOnlyCreation
                && !isOfSome(call, collection)
        }
        let below = found.below.filter { ["PUT", "PATCH", "POST"].contains($0.method) }
        let keyed =
            own.first { sendsKey($0, collection, share: 10) } ?? below.first { sendsKey($0, collection, share: 5) }
        if let keyed { return Call(call: keyed) }
        let all =
            own.lazy.compactMap { named($0, collection, isOwn: true) }.first
            ?? below.lazy.compactMap { named($0, collection, isOwn: false) }.first
        let body = all?.call.bodies.first(where: \.isJSON)?.shape
        return body.map(\.isList) == false ? all : nil
    }

    /// Whether the body is the record, with its key; or so many tenths of its members are those of the record.
    private func sendsKey(_ call: APIOperation, _ collection: Collection, share: Int) -> Bool {
        let item = collection.answer.item
        guard FixedParameter.query(of: call) != nil, let body = call.bodies.first(where: \.isJSON)?.shape,
            let key = body.properties.first(where: { Words.folded($0.name) == Words.folded(collection.key.value) }),
            !body.isList, !shapes.shape(of: key).isReadOnly
        else { return false }
        let known = Set(item.properties.map { Words.folded($0.name) })
        let names = body.properties.map { Words.folded($0.name) }
        return RecordMatch(item: item, shapes: shapes).isRecord(body)
            || names.count > 1 && names.count(where: known.contains) * 10 >= share * names.count
    }

    /// Whether a call takes a list of records with their keys, which may take the place of all.
    private func takesRecords(_ call: APIOperation, _ collection: Collection) -> Bool {
        let body = call.bodies.first(where: \.isJSON)?.shape
        return body.map { $0.isList && shapes.elements(of: $0)[collection.key.value] != nil } == true
    }

    // MARK: Parameters

    /// `GET /orders/GetById?id=`.
    private func read(of collection: Collection) -> Call? {
        let record = RecordMatch(item: collection.answer.item, shapes: shapes)
        return calls(collection, ActionCalls.reads).below.lazy.filter { $0.method == "GET" && record.isIn($0.answer) }
            .compactMap { named($0, collection, isOwn: false) }.first
    }

    /// A call that has the key of one record in a parameter, if it needs nothing else: `PUT /orders/update?id=`.
    /// `isOwn`: it is a call to the list, which may be about all records if it is sent no key.
    private func named(_ call: APIOperation, _ collection: Collection, isOwn: Bool) -> Call? {
        guard let key = call.queries.first(where: { isKey($0, collection) }), !Self.isOfAll(call) else { return nil }
        var rest = call
        rest.parameters.removeAll { $0.place == "query" && $0.name == key.name }
        guard key.isRequired || !isOwn || rest.queries.isEmpty, FixedParameter.query(of: rest) != nil else {
            return nil
        }
        return Call(call: rest, parameter: "\(key.name)=")
    }

    /// Whether a call is described as one for many records, which may take them in a form of its own.
    private static func isOfSeveral(_ call: APIOperation) -> Bool {
        call.titles.contains { !Set(Words.parts(of: $0)).isDisjoint(with: ["several", "multiple", "many"]) }
    }

    private static func isOfAll(_ call: APIOperation) -> Bool {
        call.titles.contains { Words.parts(of: $0).contains("all") }
    }

    /// Whether a call at the path of the list is about all records that its parameters choose, by conditions or by members of a
    /// record other than the key: whatever key its body has.
    private func isOfSome(_ call: APIOperation, _ collection: Collection) -> Bool {
        if Self.isOfAll(call) || Self.isOfSeveral(call) { return true }
        let names = Set(collection.answer.item.properties.map { Words.folded($0.name) }).union(["where", "filter"])
        return call.queries.contains { parameter in
            !isKey(parameter, collection) && names.contains(Words.folded(parameter.name))
        }
    }

    /// What stands behind the path of a call that has the key in a parameter: `?id={id}`.
    static func query(_ parameter: String?, of key: String, after path: String) -> String {
        parameter.map { "\(path.contains("?") ? "&" : "?")\($0){\(key)}" } ?? ""
    }

    // MARK: Deletions

    private func deletion(of collection: Collection) -> Deletion? {
        let found = calls(collection, ActionCalls.deletions)
        let own = found.own.lazy.filter { $0.method == "DELETE" }.compactMap { deletion($0, collection, isOwn: true) }
        let below = found.below.lazy.filter { ["DELETE", "POST"].contains($0.method) }.compactMap {
            deletion($0, collection, isOwn: false)
        }
        return own.first ?? below.first
    }

    /// `isOwn`: it is a call to the list, which may delete all records if it is sent no key.
    private func deletion(_ call: APIOperation, _ collection: Collection, isOwn: Bool) -> Deletion? {
        let body = call.bodies.first(where: \.isJSON)?.shape
        if call.queries.contains(where: { isKey($0, collection) }) {
            guard call.bodies.isEmpty || body?.required.isEmpty == true else { return nil }
            return named(call, collection, isOwn: isOwn).map { Deletion(call: $0.call, parameter: $0.parameter) }
        }
        guard FixedParameter.query(of: call) != nil, !Self.isOfAll(call), let body, !body.isList,
            let member = keyMember(body, collection), body.required.subtracting([member.name]).isEmpty,
            body.required.contains(member.name) || !isOwn
        else { return nil }
        return Deletion(call: call, member: member.name, isList: shapes.shape(of: member).isList)
    }

    /// The member of a body with the key of a record, or with a list of keys.
    private func keyMember(_ body: DataShape, _ collection: Collection) -> DataShape.Property? {
        body.properties.first { property in
            let shape = shapes.shape(of: property)
            guard shape.isList else { return shape.isTextOrNumber && isKey(property.name, collection) }
            return shapes.elements(of: shape).isTextOrNumber && isKey(Words.singular(property.name), collection)
        }
    }

    private func isKey(_ parameter: APIOperation.Parameter, _ collection: Collection) -> Bool {
        parameter.shape.isTextOrNumber && parameter.shape.enumValues.isEmpty
            && FieldNames.isAllowed(parameter.name) && isKey(parameter.name, collection)
    }

    /// Whether a name stands for the key of a record: `id` and `order_id` of an order. That of a record above the list does not,
    /// which `/shops/{shop_id}/orders` and `/shop/orders` may take as well.
    private func isKey(_ name: String, _ collection: Collection) -> Bool {
        let (key, item) = (collection.key.value, collection.answer.item)
        let names = [key] + PathParameter.stems(of: collection.path, last: 1).map { "\($0)_\(key)" }
        return names.map(Words.folded).contains(Words.folded(name))
            && PathParameter(name: name, list: collection.path, item: item, shapes: shapes).direct == key
    }
}

internal import JSONText

/// Reads one entity of a schema file; `PlanReader` reads how it is pulled and pushed.
struct EntityReader {
    let node: SchemaNode
    let name: String
    /// The defaults for every entity.
    let list: ListPlan
    let record: Place

    func entity() throws(SchemaError) -> Entity {
        try node.requireKeys([
            "key", "title", "title_else", "sort", "fields", "many", "pull", "push", "order_within", "conflict",
            "content", "local",
        ])
        try checkName()
        let isLocal = try isLocal()
        let fields = try fields(node.required("fields"))
        let key = try KeyReader(node: node.child("key")).key()
        let lift = lift(key, fields)
        let plans = PlanReader(entity: node, key: key.field, lift: lift, fields: fields, list: list, record: record)
        let push = try plans.push()
        let order = try order(node.child("order_within"))
        return Entity(
            name: name,
            key: key.field,
            keyForm: key.form,
            lift: lift,
            fields: fields,
            titles: try titles(),
            sort: SortTerm.list(try node.child("sort")?.string() ?? ""),
            relations: try one(fields) + many(node.child("many")),
            pull: try plans.pull(),
            tombstones: try plans.tombstones(),
            push: push,
            orderWithin: order.field,
            holdsUpWhenFailed: order.holdsUp,
            conflict: try node.child("conflict")?.word() ?? .lastWriteWins,
            content: try content(node.child("content"), plans, push), isLocal: isLocal)
    }

    private func order(_ node: SchemaNode?) throws(SchemaError) -> (field: String?, holdsUp: Bool) {
        guard let node, node.isMapping else { return (try node?.string(), true) }
        try node.requireKeys(["field", "wait_for_failed"])
        return (try node.required("field").string(), try node.child("wait_for_failed")?.boolean() ?? true)
    }

    /// A local-only entity must have no keys that concern the upstream.
    private func isLocal() throws(SchemaError) -> Bool {
        guard try node.flag("local") else { return false }
        for name in ["pull", "push", "order_within", "conflict", "content"] {
            if let child = node.child(name) {
                throw child.error("a local-only entity is never synced, so it has no \(name); remove \(name) or local")
            }
        }
        return true
    }

    private func content(
        _ node: SchemaNode?, _ plans: PlanReader, _ push: PushPlan
    ) throws(SchemaError) -> ContentPlan? {
        guard let node else { return nil }
        let isSentOnCreation = push.create.contains { $0.file != nil }
        return try ContentReader(node: node, plans: plans, isSentOnCreation: isSentOnCreation).plan()
    }

    private func checkName() throws(SchemaError) {
        _ = try node.identifier(name)
        guard name == name.lowercased() else { throw node.error("expected an entity name in lower case") }
        if EntitySchema.reservedEntityNames.contains(name) {
            throw node.error("\(name) is a word of the local API and cannot name an entity; choose another")
        }
        for prefix in EntitySchema.reservedEntityPrefixes where name.hasPrefix(prefix) {
            throw node.error("names that begin with \(prefix) are reserved for the database; choose another")
        }
    }

    private func titles() throws(SchemaError) -> [Template] {
        var templates: [Template] = []
        if let title = node.child("title") { templates.append(try title.template()) }
        if let other = node.child("title_else") {
            guard !templates.isEmpty else {
                throw other.error("title_else has no effect here: there is no title; write this text as title")
            }
            // A bare field name is short for its template.
            let text = try other.string()
            let isField = !text.contains("{") && !text.contains("}")
            templates.append(isField ? Template(parts: [.placeholder(text)]) : try other.template())
        }
        return templates
    }

    // MARK: Fields

    private func fields(_ node: SchemaNode) throws(SchemaError) -> [Field] {
        var fields: [Field] = []
        var known: [String: String] = [:]
        for (name, value) in try node.members() {
            _ = try value.identifier(name, mayBeginWithLine: true)
            if EntitySchema.ownMembers.contains(name.lowercased()) {
                throw value.error(
                    "\(name) is a name of the cache's own and cannot name a field; choose another name, with from: \(name)"
                )
            }
            if EntitySchema.reservedFieldNames.contains(name) {
                throw value.error(
                    "\(name) is a query parameter of the local API and cannot name a field; choose another name")
            }
            if let other = known.updateValue(name, forKey: name.lowercased()) {
                throw value.error("\(name) and \(other) differ only in case, which columns cannot; rename one")
            }
            fields.append(try FieldReader(node: value, name: name).field())
        }
        return fields
    }

    /// What records get from other places when they come from the upstream. The key first: most readers look for nothing else.
    private func lift(_ key: KeyReader.Key, _ fields: [Field]) -> Lift? {
        let isNumber = fields.first { $0.name == key.field }?.kind == .integer
        var members = key.source.map { [Lift.Member(name: key.field, source: $0, isNumber: isNumber)] } ?? []
        members += fields.compactMap { field in field.link.map { Lift.Member(name: field.name, source: .link($0)) } }
        return members.isEmpty ? nil : Lift(members)
    }

    // MARK: Relations

    /// A reference is a relation too, named `as` or after its field.
    private func one(_ fields: [Field]) throws(SchemaError) -> [Relation] {
        var relations: [Relation] = []
        for field in fields {
            guard case .reference(let entity) = field.kind else { continue }
            let given = try node.child("fields")?.child(field.name)?.child("as")?.string()
            let name = given ?? Relation.name(ofReference: field.name)
            relations.append(Relation(name: name, entity: entity, kind: .one(field: field.name)))
        }
        return relations
    }

    private func many(_ node: SchemaNode?) throws(SchemaError) -> [Relation] {
        var relations: [Relation] = []
        for (name, value) in try node?.members() ?? [] {
            try value.requireKeys(["of", "by", "on_delete", "at_most"])
            let rule: DeleteRule? = try value.child("on_delete")?.word()
            relations.append(
                Relation(
                    name: try value.identifier(name), entity: try value.required("of").string(),
                    kind: .many(field: try value.required("by").string(), onDelete: rule ?? .keep),
                    isSingle: try value.child("at_most")?.integer(in: 1...1) != nil, isRuled: rule != nil))
        }
        return relations
    }
}

extension SchemaNode {
    func template() throws(SchemaError) -> Template {
        guard let template = Template(try string()) else { throw error("expected every { to be closed around a name") }
        return template
    }

    func pattern() throws(SchemaError) -> TextPattern {
        guard let pattern = TextPattern(try string()) else {
            throw error("expected every { to be closed around a name, or a name and a number of letters ({name:1})")
        }
        return pattern
    }
}

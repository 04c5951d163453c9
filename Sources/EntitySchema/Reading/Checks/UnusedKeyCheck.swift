/// Refuses keys of an entity that are right in themselves, but have no effect beside the others: a key that does nothing
/// is a mistake.
///
/// What only concerns writes (`default`, `steps`, `conflict`) may stand where no route allows any yet.
struct UnusedKeyCheck {
    let schema: EntitySchema
    let root: SchemaNode

    func run() throws(SchemaError) {
        for entity in schema.entities {
            guard let node = root.child("entities")?.child(entity.name) else { continue }
            for field in entity.fields {
                guard let node = node.child("fields")?.child(field.name) else { continue }
                try check(field, node, of: entity)
            }
            if let pull = node.child("pull") { try check(pull, of: entity) }
            for operation in Operation.allCases {
                guard let routes = node.child("push")?.child(operation.rawValue) else { continue }
                for route in try routes.oneOrMore() { try check(route, operation) }
            }
        }
    }

    // MARK: Fields

    private func check(_ field: Field, _ node: SchemaNode, of entity: Entity) throws(SchemaError) {
        if field.enumValues == nil { try refuse("values", in: node, "values belong to an enum: write type: enum") }
        if !field.isReference {
            try refuse("to", in: node, "only a reference has another entity: write type: reference")
            try refuse("as", in: node, "only a reference has a relation to name: write type: reference")
        }
        if entity.isLocal {
            for key in ["from", "steps", "waits_for", "merge", "wire", "write_only"] {
                try refuse(key, in: node, "the upstream has no local-only records: remove local")
            }
        }
        if field.isDerivedHere {
            for key in ["steps", "write_only"] {
                try refuse(key, in: node, "a computed field is never sent: remove derive or follow")
            }
        }
        if field.isWriteOnly {
            try refuse("from", in: node, "what the upstream never shows is read from no place: remove write_only")
        }
    }

    // MARK: Pulls

    private func check(_ pull: SchemaNode, of entity: Entity) throws(SchemaError) {
        if let changedAt = pull.child("changed_at"), let field = pull.child("since")?.child("field"),
            changedAt.value.text != field.value.text
        {
            throw changedAt.error("since.field names another field for the same; remove one of them")
        }
        if let since = pull.child("deleted")?.child("since") {
            try refuse("field", in: since, "deletions have their time at deleted.at: write it there")
        }
        if entity.pull?.single.isServed == false {
            if let record = pull.child("record") {
                try refuse("at", in: record, "this list has no single records: add record.path or record.call")
            }
            if let detail = pull.child("detail") {
                try refuse("read", in: detail, "this list has no single records: add pull.record")
            }
        }
        if let detail = pull.child("detail") {
            for one in try detail.oneOrMore() { try checkEmbedded(one) }
        }
    }

    /// What is embedded comes in one answer, at that place.
    private func checkEmbedded(_ node: SchemaNode) throws(SchemaError) {
        guard node.child("embedded") != nil else { return }
        for key in ListReader.keys {
            try refuse(key, in: node, "embedded says where the records are, in one answer")
        }
    }

    // MARK: Routes

    private func check(_ route: SchemaNode, _ operation: Operation) throws(SchemaError) {
        if let lookUp = route.child("look_up") {
            guard operation == .create else {
                throw lookUp.error("only a creation is looked up; move look_up to push.create, or remove it")
            }
            try checkEmbedded(lookUp)
        }
        if operation == .delete {
            for key in ["fields", "html"] { try refuse(key, in: route, "a deletion sends no fields") }
            if route.child("body") == nil { try refuse("encoding", in: route, "this deletion has no body") }
        }
        guard let sent = try sent(by: route, operation) else { return }
        for field in try route.child("fields")?.elements() ?? [] {
            guard let name = field.value.text, !sent.contains(name) else { continue }
            let condition = operation == .update ? ", or its value to when" : ""
            throw field.error("body does not send \(name): add it to body\(condition), or remove it here")
        }
    }

    /// The fields that the body names; nil if it has all that change, under their own names. For an update, a field in
    /// `when` counts: the choice of the route implies its value.
    private func sent(by route: SchemaNode, _ operation: Operation) throws(SchemaError) -> [String]? {
        guard let body = BodyReader.body(of: route, operation) else { return nil }
        let template = body.isTemplate ? try body.template() : nil
        let places = try body.places()
        guard places != nil || template?.hasFields == false else { return nil }
        var sent = (places?.fields ?? []) + (template?.names ?? [])
        if operation == .update { sent += try route.child("when")?.members().map(\.name) ?? [] }
        for (_, field) in try route.child("html")?.members() ?? [] { sent.append(try field.string()) }
        return sent
    }

    private func refuse(_ key: String, in node: SchemaNode, _ reason: String) throws(SchemaError) {
        guard let child = node.child(key), child.value.boolean != false else { return }
        throw child.error("\(key) has no effect here: \(reason), or remove \(key)")
    }
}

internal import JSONText

/// Checks a schema as a whole: every name that is used must be defined.
struct SchemaCheck {
    let schema: EntitySchema
    let root: SchemaNode

    func run() throws(SchemaError) {
        for entity in schema.entities {
            for relation in entity.relations { _ = try target(of: relation, in: entity) }
        }
        for entity in schema.entities {
            try check(entity)
            for relation in entity.relations { try check(relation, of: entity) }
            try checkPull(entity)
            try checkPush(entity)
            try RouteCheck(entity: entity, error: error(of: entity)).run()
            try LiftCheck(entity: entity, error: error(of: entity)).run()
            try KeyFormCheck(entity: entity, error: error(of: entity)).run()
            if let content = entity.content { try check(content, of: entity) }
        }
        for entity in schema.entities { try FileRouteCheck(entity: entity, error: error(of: entity)).run() }
        try BatchCheck(schema: schema, root: root, error: error).run()
        for entity in schema.entities {
            try SecretCheck(schema: schema, entity: entity, error: error(of: entity)).run()
        }
        for entity in schema.entities {
            try DerivedFieldCheck(schema: schema, entity: entity, error: error(of: entity)).run()
        }
        for entity in schema.entities {
            try DefaultCheck(schema: schema, entity: entity, error: error(of: entity)).run()
        }
        try UnusedKeyCheck(schema: schema, root: root).run()
    }

    private func check(_ entity: Entity) throws(SchemaError) {
        guard let key = entity[field: entity.key] else {
            throw error(
                entity, "key",
                Suggestion.noField(entity.key, of: entity)
                    + "; add it, or name the field that identifies a record in key")
        }
        guard ![.money, .number, .boolean, .object, .list].contains(key.kind) else {
            throw error(entity, "key", "a key is text or a whole number, and \(key.name) is of type \(key.kind.word)")
        }
        guard entity[field: entity.key]?.source == nil else {
            throw error(
                entity, "key",
                "\(entity.key) is the key: write key: { field: \(entity.key), from: … } in place of the field's from")
        }
        if case .field(let version)? = schema.upstream.version, let source = entity[field: version.place]?.source {
            throw error(
                entity, "fields.\(version.place).from",
                "upstream.version names this field; write field: \(source) there, and remove from here")
        }
        for name in entity.titles.flatMap(\.placeholders) { try field(name, of: entity, at: "title") }
        for term in entity.sort {
            try field(term.field, of: entity, at: "sort")
            guard entity[field: term.field]?.indexed == true || term.field == entity.key else {
                throw error(entity, "sort", "\(term.field) needs index: true, because every list sorts by it")
            }
        }
        for field in entity.fields { try checkPartner(of: field, in: entity) }
        if let name = entity.orderWithin { try field(name, of: entity, at: "order_within") }
        var names: Set<String> = []
        for relation in entity.relations where !names.insert(relation.name).inserted {
            throw error(entity, "many", "two relations are named \(relation.name); rename one of them with as:")
        }
    }

    /// The two fields are compared as they are stored.
    private func checkPartner(of field: Field, in entity: Entity) throws(SchemaError) {
        guard let other = field.waitsFor else { return }
        let place = "fields.\(field.name).waits_for"
        guard !field.isStoredSealed, [.string, .integer].contains(field.kind) else {
            throw error(entity, place, "\(field.name) must be of type string or integer, and not secret or sealed")
        }
        let target = try self.entity(other.entity, for: entity, at: place)
        guard target[field: other.field]?.indexed == true else {
            throw error(entity, place, "\(other.entity) needs a field \(other.field) with index: true")
        }
        guard target[field: other.field]?.kind == field.kind || other.field == target.key else {
            throw error(entity, place, "\(other.entity).\(other.field) must have the type of \(field.name)")
        }
    }

    private func target(of relation: Relation, in entity: Entity) throws(SchemaError) -> Entity {
        try self.entity(relation.entity, for: entity, at: place(of: relation))
    }

    private func check(_ relation: Relation, of entity: Entity) throws(SchemaError) {
        let way = relation.isMany ? "choose another name" : "name it with as:"
        guard !relation.name.hasPrefix("_") else {
            throw error(
                entity, place(of: relation), "a relation cannot begin with _, as \(relation.name) does; \(way)")
        }
        if EntitySchema.reservedRelationNames.contains(relation.name) {
            throw error(
                entity, place(of: relation),
                "\(relation.name) is a word of the local API and cannot name a relation; \(way)")
        }
        let other = try target(of: relation, in: entity)
        guard case .many(let name, let rule) = relation.kind else {
            guard entity.isLocal || !other.isLocal else {
                throw error(
                    entity, place(of: relation),
                    "the upstream does not have \(other.name), which is local only; only a local-only entity can refer to it"
                )
            }
            return
        }
        guard case .reference(let target) = other[field: name]?.kind, target == entity.name else {
            throw error(
                entity, place(of: relation), "\(other.name).\(name) must be a field of type reference to \(entity.name)"
            )
        }
        guard rule == .nullify, let field = other[field: name] else { return }
        if field.required || name == other.key || field.source != nil {
            throw error(
                entity, place(of: relation),
                "\(other.name).\(name) cannot become null: it is required, the key, or read from another member (from)")
        }
    }

    private func checkPush(_ entity: Entity) throws(SchemaError) {
        for (operation, routes) in [
            ("create", entity.push.create), ("update", entity.push.update), ("delete", entity.push.delete),
        ] {
            for route in routes {
                let names =
                    route.path.fields + route.conditions.keys.sorted() + (route.fields ?? [])
                    + (route.body?.fields ?? []) + route.html.values.sorted() + lookUpNames(route)
                for name in names { try pathField(name, of: entity, at: "push.\(operation)") }
                try check(route.envelope, of: entity, at: "push.\(operation)")
            }
        }
    }

    func check(_ envelope: BodyTemplate?, of entity: Entity, at place: String) throws(SchemaError) {
        for name in envelope?.names ?? [] {
            try field(name, of: entity, at: place)
            guard let field = entity[field: name], field.isStoredSealed else { continue }
            throw error(entity, place, "\(name) is \(field.sealingWord), so it is sent only as one of $fields")
        }
    }

    private func check(_ content: ContentPlan, of entity: Entity) throws(SchemaError) {
        for (name, place) in [(content.address, "content.url"), (content.state, "content.state")] {
            guard let name else { continue }
            try field(name, of: entity, at: place)
            if let field = entity[field: name], field.isStoredSealed {
                throw error(entity, "fields.\(name)", "\(name) cannot be \(field.sealingWord): \(place) needs it")
            }
        }
        let writes = [content.upload?.path, content.delete?.path].compactMap(\.self).flatMap(\.fields)
        for name in writes + (content.path?.placeholders ?? []) { try pathField(name, of: entity, at: "content") }
        guard let name = content.state, entity[field: name]?.kind != .string else { return }
        guard case .enum(let values) = entity[field: name]?.kind else {
            throw error(entity, "content.state", "\(name) must be of type string or enum, because it shows a word")
        }
        let missing = ContentState.allCases.map(\.rawValue).filter { word in !values.contains { $0.value == word } }
        guard missing.isEmpty else {
            throw error(
                entity, "content.state",
                "\(name) must have the values \(missing.joined(separator: ", ")); add them")
        }
    }

    private func lookUpNames(_ route: PushRoute) -> [String] {
        guard case .match(let fields, let path, _) = route.lookUp else { return [] }
        return fields + route.shownAmong.keys.sorted() + (path?.placeholders ?? [])
    }

    /// A field, or one of a record that the entity refers to: `device.order_id`.
    private func pathField(_ name: String, of entity: Entity, at place: String) throws(SchemaError) {
        guard name.contains(".") else { return try field(name, of: entity, at: place) }
        guard let far = entity.far(name), let other = schema[far.entity] else {
            let relation = String(name.prefix { $0 != "." })
            let known = entity.relations.filter { !$0.isMany }.map(\.name)
            let hint = Suggestion.hint(for: relation, among: known)
            throw error(entity, place, "\(entity.name) refers to no record as \(relation)\(hint)")
        }
        try field(far.field, of: other, at: place)
        if other[field: far.field]?.isStoredSealed == true {
            throw error(entity, place, "\(name) is secret or sealed, so it cannot be part of a path")
        }
    }

    // MARK: Errors

    func entity(_ name: String, for user: Entity, at place: String) throws(SchemaError) -> Entity {
        guard let entity = schema[name] else {
            let hint = Suggestion.hint(for: name, among: schema.entities.map(\.name))
            throw error(user, place, "there is no entity \(name)\(hint)")
        }
        return entity
    }

    func field(_ name: String, of entity: Entity, at place: String) throws(SchemaError) {
        guard entity[field: name] == nil else { return }
        guard !name.hasPrefix("$") else {
            throw error(
                entity, place,
                "{\(name)} cannot stand here; expected a field in braces, such as {\(entity.key)}, or in push {$key}")
        }
        throw error(entity, place, Suggestion.noField(name, of: entity))
    }

    private func place(of relation: Relation) -> String {
        switch relation.kind {
        case .one(let field): "fields.\(field)"
        case .many: "many.\(relation.name)"
        }
    }

    private func error(of entity: Entity) -> (_ place: String, _ problem: String) -> SchemaError {
        { error(entity, $0, $1) }
    }

    /// Points at the deepest key of `place` that the file has. One route alone stands for a list of it.
    func error(_ entity: Entity, _ place: String, _ problem: String) -> SchemaError {
        var node = root.child("entities")?.child(entity.name) ?? root
        for name in place.split(separator: ".").map(String.init) {
            node = node.child(name) ?? Int(name).flatMap(node.element) ?? node
        }
        return node.error(problem)
    }
}

extension EntitySchema {
    /// What uses a field to address, order or version records during a sync; nil when nothing does.
    func use(of field: String, in entity: Entity) -> String? {
        if entity.orderWithin == field { return "order_within" }
        if case .field(let version)? = upstream.version, [field, entity[field: field]?.source].contains(version.place) {
            return "upstream.version"
        }
        if let pull = entity.pull {
            if pull.changedAt == field { return Self.changeTimeUse }
            if pull.deleted?.name == field { return "pull.deleted" }
            if pull.single.path.placeholders.contains(field) { return "pull.record" }
            let placeholders = pull.details.compactMap(\.path).flatMap(\.placeholders)
            if placeholders.contains(field) { return "pull.detail" }
        }
        if entity.content?.path?.placeholders.contains(field) == true { return "content.path" }
        let contents = [entity.content?.upload, entity.content?.delete].compactMap(\.self)
        for route in entity.push.routes + contents {
            if route.path.placeholders.contains(field) || route.conditions[field] != nil {
                return "the path or condition of a push"
            }
            if case .match(let fields, let path, _) = route.lookUp,
                (fields + route.shownAmong.keys + (path?.placeholders ?? [])).contains(field)
            {
                return "look_up"
            }
        }
        return entity.pull?.whenChanged == field ? Self.changeUse : nil
    }

    /// The use of a field as `when_changed`, which asks for the server's value and never for one computed here.
    static let changeUse = "pull.detail.when_changed"

    static let changeTimeUse = "the change time"
}

internal import JSONText

/// Reads one entity of a schema file; `PlanReader` reads how it is pulled and pushed.
struct EntityReader {
    let node: SchemaNode
    let name: String
    /// The defaults for every entity.
    let list: ListPlan
    let record: Place

    private static let simpleKinds: [String: Field.Kind] = [
        "string": .string, "integer": .integer, "number": .number, "money": .money, "boolean": .boolean, "time": .time,
        "date": .date,
        "object": .object, "list": .list,
    ]

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
            orderWithin: try node.child("order_within")?.string(),
            conflict: try conflict(node.child("conflict")),
            content: try content(node.child("content"), plans, push), isLocal: isLocal)
    }

    /// A local-only entity must have no keys that concern the upstream.
    private func isLocal() throws(SchemaError) -> Bool {
        guard let local = node.child("local"), try local.boolean() else { return false }
        for name in ["pull", "push", "order_within", "conflict", "content"] {
            if let child = node.child(name) {
                throw child.error("a local-only entity is never synced, so it has no \(name); remove \(name) or local")
            }
        }
        return true
    }

    private func conflict(_ node: SchemaNode?) throws(SchemaError) -> ConflictPolicy {
        guard let node else { return .lastWriteWins }
        guard let policy = ConflictPolicy(rawValue: try node.string()) else {
            let known = ConflictPolicy.allCases.map(\.rawValue).joined(separator: ", ")
            let hint = Suggestion.hint(for: try node.string(), among: ConflictPolicy.allCases.map(\.rawValue))
            throw node.error("expected one of \(known)\(hint)")
        }
        return policy
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
            // A bare field name is short for its template.
            let text = try other.string()
            if let template = Template(text.contains("{") ? text : "{\(text)}") { templates.append(template) }
        }
        return templates
    }

    // MARK: Fields

    private func fields(_ node: SchemaNode) throws(SchemaError) -> [Field] {
        var fields: [Field] = []
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
            if let other = fields.first(where: { $0.name.lowercased() == name.lowercased() }) {
                throw value.error("\(name) and \(other.name) differ only in case, which columns cannot; rename one")
            }
            fields.append(try field(name, value))
        }
        return fields
    }

    private func field(_ name: String, _ node: SchemaNode) throws(SchemaError) -> Field {
        try node.requireKeys([
            "type", "values", "to", "as", "from", "index", "search", "required", "secret", "derive", "follow", "merge",
            "default", "touch", "sealed", "steps", "waits_for", "wire", "natural", "write_only",
        ])
        let from = node.child("from")
        let link = from?.isMapping == true ? from : nil
        var field = Field(
            name: name, kind: try kind(node), source: link == nil ? try from?.source(of: name) : nil,
            indexed: try node.child("index")?.boolean() ?? false,
            required: try node.child("required")?.boolean() ?? false,
            secret: try node.child("secret")?.boolean() ?? false,
            sealed: try node.child("sealed")?.boolean() ?? false)
        if let from, let source = field.source { try check(from, source, field) }
        if let link { try readLink(link, of: &field) }
        if let node = node.child("search") { field.search = try search(node) }
        if let node = node.child("follow") { field.follow = try FollowReader(node: node, field: field).following() }
        if let node = node.child("merge") { field.mergesAsSet = try isSet(node, field.kind) }
        if let node = node.child("default") { field.initial = try DefaultReader(node: node, field: field).initial() }
        if let node = node.child("touch") { field.isTouched = try isTouched(node, field) }
        if let node = node.child("waits_for") { field.waitsFor = try other(node) }
        if let node = node.child("wire") {
            switch field.kind {
            case .date: field.dayFormat = try dayFormat(node)
            case .time: field.timeFormat = try timeFormat(node)
            case .string, .reference: field.isPath = try isPath(node)
            default: field.isTextOnWire = try isText(node, field.kind)
            }
        }
        if let natural = node.child("natural"), try natural.boolean() { try makeNatural(&field, node) }
        field.hasSteps = try node.child("steps")?.boolean() ?? false
        field.isWriteOnly = try node.child("write_only")?.boolean() ?? false
        try checkSealing(field, node)
        switch field.kind {
        case .string, .enum, .integer: break
        default:
            if let search = node.child("search"), field.search != nil {
                throw search.error("only fields of type string, enum or integer can be searched")
            }
        }
        return field
    }

    private func checkSealing(_ field: Field, _ node: SchemaNode) throws(SchemaError) {
        if field.secret && field.sealed {
            throw node.error("a secret field is sealed already; remove sealed to hide it, or secret to show it")
        }
        let word = field.sealingWord
        if field.isStoredSealed && field.indexed {
            throw node.error("a \(word) field cannot have an index; remove index or \(word)")
        }
        if field.isStoredSealed && field.search != nil {
            throw node.error("a \(word) field cannot be searched; remove search or \(word)")
        }
    }

    /// A member with the field's own name is read first. A part of a list cannot be sealed, and what goes through a list is
    /// one.
    private func check(_ node: SchemaNode, _ source: String, _ field: Field) throws(SchemaError) {
        let steps = JSONPath.steps(source)
        if steps == [field.name[...]] {
            throw node.error("\(field.name) is read under its own name anyway; remove from")
        }
        if steps.first == field.name[...] {
            let other = "\(field.name)_value"
            throw node.error(
                "a record's member \(field.name) is read first and hides \(source); give the field another name, such as "
                    + "\(other), which a change sends with $fields: { \(field.name): \(other) }")
        }
        if field.isStoredSealed, steps.contains(where: { $0 == "*" || Int($0) != nil }) {
            throw node.error(
                "a \(field.sealingWord) field cannot be a part of a list; remove \(field.sealingWord), or read the list"
            )
        }
        if steps.contains("*"), field.kind != .list {
            throw node.error("a value from all elements of a list is a list: write type: list, or name one element")
        }
    }

    /// `true` is short for words.
    private func search(_ node: SchemaNode) throws(SchemaError) -> Field.Search? {
        let word = try node.string()
        if word == "false" { return nil }
        guard let search = Field.Search(rawValue: word == "true" ? "words" : word) else {
            let hint = Suggestion.hint(for: word, among: Field.Search.allCases.map(\.rawValue))
            throw node.error("search is \(word); expected words (or true), fragments or false\(hint)")
        }
        return search
    }

    /// Such a field is looked up with each request that names it, so it has an index.
    private func makeNatural(_ field: inout Field, _ node: SchemaNode) throws(SchemaError) {
        let isComputed = node.child("derive") != nil || node.child("follow") != nil
        guard [.string, .integer].contains(field.kind), !field.isStoredSealed, !isComputed else {
            throw node.error(
                "only a field of type string or integer that is not secret, sealed or computed can be natural"
            )
        }
        field.isNatural = true
        field.indexed = true
    }

    private func isSet(_ node: SchemaNode, _ kind: Field.Kind) throws(SchemaError) -> Bool {
        guard try node.string() == "set" else { throw node.error("expected set") }
        guard kind == .list else { throw node.error("only a field of type list can be merged as a set") }
        return true
    }

    private func other(_ node: SchemaNode) throws(SchemaError) -> Field.Other {
        let names = try node.dottedPath().split(separator: ".").map(String.init)
        guard names.count == 2 else { throw node.error("expected an entity and its field, such as clients.email") }
        return Field.Other(entity: names[0], field: names[1])
    }

    private func isText(_ node: SchemaNode, _ kind: Field.Kind) throws(SchemaError) -> Bool {
        guard try node.string() == "string" else { throw node.error("expected string") }
        guard [.integer, .number, .money, .boolean].contains(kind) else {
            throw node.error(
                "wire is for a field of type integer, number, money, boolean, string, reference, time or date; remove it"
            )
        }
        return true
    }

    private func isPath(_ node: SchemaNode) throws(SchemaError) -> Bool {
        guard try node.string() == "path" else {
            throw node.error(
                "wire is for a field of type integer, number, money, boolean, time or date, and can be path for a string or a "
                    + "reference whose slashes stay in addresses; remove it")
        }
        return true
    }

    private func dayFormat(_ node: SchemaNode) throws(SchemaError) -> TimeFormat? {
        let format = try node.timeFormat()
        return format == .date ? nil : format
    }

    private func timeFormat(_ node: SchemaNode) throws(SchemaError) -> TimeFormat {
        let format = try node.timeFormat()
        guard format.isISO, format.precision < .seconds(86_400), format != .date else {
            throw node.error(
                "a field of type time is in ISO 8601, so expected iso, iso_space or parts in that order, such as "
                    + "yyyy-MM-dd HH:mm:ss; for numbers use type integer, for days type date, for other texts type string"
            )
        }
        return format
    }

    private func isTouched(_ node: SchemaNode, _ field: Field) throws(SchemaError) -> Bool {
        guard try node.string() == "now" else { throw node.error("expected now") }
        guard field.kind == .time else { throw node.error("only a field of type time can move with each edit") }
        return true
    }

    private func kind(_ node: SchemaNode) throws(SchemaError) -> Field.Kind {
        let type = try node.required("type")
        let word = try type.string()
        switch word {
        case "enum":
            var values: [Field.EnumValue] = []
            for (value, label) in try node.required("values").members() {
                values.append(try enumValue(value, label))
            }
            guard !values.isEmpty else {
                throw try node.required("values").error("expected at least one value, such as { open: Open }")
            }
            return .enum(values)
        case "reference": return .reference(to: try node.required("to").string())
        default:
            guard let kind = Self.simpleKinds[word] else {
                let known = (Self.simpleKinds.keys + ["enum", "reference"]).sorted()
                let near = Suggestion.hint(for: word, among: known, else: ".")
                throw type.error("unknown type \(word)\(near) Expected one of \(known.joined(separator: ", "))")
            }
            return kind
        }
    }

    /// `ready: Ready`, or `ready: { label: Ready, icon: checkmark }`.
    private func enumValue(_ value: String, _ node: SchemaNode) throws(SchemaError) -> Field.EnumValue {
        guard node.isMapping else { return Field.EnumValue(value: value, label: try node.string()) }
        try node.requireKeys(["label", "icon"])
        return Field.EnumValue(
            value: value, label: try node.required("label").string(), icon: try node.child("icon")?.string())
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
            relations.append(
                Relation(
                    name: try value.identifier(name), entity: try value.required("of").string(),
                    kind: .many(field: try value.required("by").string(), onDelete: try onDelete(value)),
                    isSingle: try value.child("at_most")?.integer(in: 1...1) != nil))
        }
        return relations
    }

    private func onDelete(_ node: SchemaNode) throws(SchemaError) -> DeleteRule {
        guard let node = node.child("on_delete") else { return .keep }
        guard let rule = DeleteRule(rawValue: try node.string()) else {
            let known = DeleteRule.allCases.map(\.rawValue).joined(separator: ", ")
            let hint = Suggestion.hint(for: try node.string(), among: DeleteRule.allCases.map(\.rawValue))
            throw node.error("on_delete is \(try node.string()); expected one of \(known)\(hint)")
        }
        return rule
    }
}

extension SchemaNode {
    /// Where the upstream's record has a field: names, numbers of elements, and `*` for all elements once.
    fileprivate func source(of field: String) throws(SchemaError) -> String {
        guard !isSequence else { throw error("expected one place; a field has no alternatives") }
        let path = try string()
        try checkSteps(of: path)
        let steps = path.split(separator: ".", omittingEmptySubsequences: false)
        if JSONPath.isValid(path), path.contains("\"") {
            guard JSONPath.steps(path).allSatisfy({ $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\\" } })
            else {
                throw error("\(path) cannot be a place; expected names without backslashes and control characters")
            }
        } else {
            for step in steps where step != "*" && Int(step) == nil {
                do {
                    _ = try identifier(String(step), mayBeginWithLine: true)
                } catch {
                    throw self.error(
                        #"\#(step) needs quotes of its own to stand in a place, such as 'fields."Full Name"'"#)
                }
            }
        }
        guard JSONPath.steps(path).count(where: { $0 == "*" }) < 2 else {
            throw error("\(path) goes through two lists; a field can go through one")
        }
        return path
    }

    /// Names separated by dots.
    fileprivate func dottedPath() throws(SchemaError) -> String {
        let path = try string()
        for name in path.split(separator: ".", omittingEmptySubsequences: false) { _ = try identifier(String(name)) }
        return path
    }

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

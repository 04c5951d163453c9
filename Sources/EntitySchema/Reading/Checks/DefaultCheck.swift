/// Checks `default` and `touch` of every field: what they are laid over, and what a default's text is made of.
struct DefaultCheck {
    let schema: EntitySchema
    let entity: Entity
    /// Makes the error for a place in the entity.
    let error: (_ place: String, _ problem: String) -> SchemaError

    func run() throws(SchemaError) {
        for field in entity.fields where field.initial != nil || field.isTouched { try check(field) }
    }

    private func check(_ field: Field) throws(SchemaError) {
        let place = "fields.\(field.name)"
        let word = field.initial != nil ? "default" : "touch"
        if field.name == entity.key { throw error("key", "the key cannot have \(word)") }
        let others = [
            (field.derivation != nil, "derive"), (field.follow != nil, "follow"), (field.secret, "secret"),
            (field.required, "required"), (field.sealed && field.isTouched, "sealed"),
        ]
        for (isSet, name) in others where isSet {
            throw error("\(place).\(name)", "\(name) cannot be combined with \(word); remove one")
        }
        guard let initial = field.initial else { return }
        if case .text(let pattern) = initial.value {
            for name in pattern.names { try check(name, at: "\(place).default") }
        }
        guard initial.isSent, !entity.isLocal else { return }
        let canSend = entity.push.create.contains { $0.canSend(field.name) || $0.conditions[field.name] != nil }
        guard canSend else {
            throw error("\(place).default", "no create route can send \(field.name); remove send")
        }
    }

    /// A field of the record, of a record that it refers to (`client.email`), or `$account.name`.
    private func check(_ placeholder: String, at place: String) throws(SchemaError) {
        if placeholder == FieldDefault.accountName {
            guard schema.upstream.account?.name == nil else { return }
            throw error(place, "\(placeholder) needs upstream.account.name, the place of the name")
        }
        let names = placeholder.split(separator: ".", maxSplits: 1).map(String.init)
        guard names.count == 2 else { return try field(placeholder, of: entity, at: place) }
        let ones = entity.relations.filter { !$0.isMany }
        guard let relation = ones.first(where: { $0.name == names[0] }), let other = schema[relation.entity] else {
            let hint = Suggestion.hint(for: names[0], among: ones.map(\.name))
            throw error(place, "\(entity.name) refers to no record as \(names[0])\(hint)")
        }
        try field(names[1], of: other, at: place)
    }

    private func field(_ name: String, of owner: Entity, at place: String) throws(SchemaError) {
        guard let field = owner[field: name] else { throw error(place, Suggestion.noField(name, of: owner)) }
        if field.isStoredSealed {
            throw error(place, "\(name) is \(field.sealingWord), so it cannot be shown here")
        }
    }
}

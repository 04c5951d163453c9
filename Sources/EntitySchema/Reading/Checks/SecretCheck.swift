/// Checks that no secret or sealed field is used where its plain value is needed (paths, order, joins, versions), and that no
/// other field contains a secret or is read from inside one.
struct SecretCheck {
    let schema: EntitySchema
    let entity: Entity
    /// Makes the error for a place in the entity.
    let error: (_ place: String, _ problem: String) -> SchemaError

    func run() throws(SchemaError) {
        for field in entity.fields where field.isStoredSealed {
            try check(field)
            for other in entity.fields where other.name != field.name { try check(field, beside: other) }
        }
    }

    private func check(_ field: Field) throws(SchemaError) {
        let place = "fields.\(field.name)"
        let word = field.sealingWord
        if field.name == entity.key { throw error("key", "the key cannot be \(word)") }
        if field.isReference { throw error(place, "a reference cannot be \(word)") }
        let isInTitle = entity.titles.contains { $0.placeholders.contains(field.name) }
        guard let use = isInTitle ? "title" : schema.use(of: field.name, in: entity) else { return }
        throw error(place, "\(field.name) cannot be \(word): \(use) needs it")
    }

    /// An object that contains the secret is allowed, because it is shown without it. A field read from inside the
    /// secret, or from a place around it, is not.
    private func check(_ secret: Field, beside other: Field) throws(SchemaError) {
        let places = [secret.name, secret.source].compactMap { $0 }
        let isTakenFromIt = other.source.map { source in places.contains { overlap($0, source) } } ?? false
        guard isTakenFromIt || secret.source == other.name else { return }
        throw error(
            "fields.\(other.name)",
            "\(other.name) would show what \(secret.name) keeps \(secret.sealingWord); change its from")
    }

    private func overlap(_ one: String, _ other: String) -> Bool {
        one == other || one.hasPrefix("\(other).") || other.hasPrefix("\(one).")
    }
}

/// Checks that no locally computed field (`derive`, `follow`) is used where a record's own value is needed: computed
/// values are never sent, and another machine may compute another value.
struct DerivedFieldCheck {
    let schema: EntitySchema
    let entity: Entity
    /// Makes the error for a place in the entity.
    let error: (_ place: String, _ problem: String) -> SchemaError

    func run() throws(SchemaError) {
        for field in entity.derivedFields { try check(field) }
    }

    private func check(_ field: Field) throws(SchemaError) {
        let place = "fields.\(field.name)"
        let word = field.derivation != nil ? "derive" : "follow"
        if field.derivation != nil, field.follow != nil {
            throw error(place, "\(field.name) has derive or follow, not both; remove one")
        }
        if field.name == entity.key { throw error("key", "the key cannot have \(word)") }
        if field.isReference { throw error(place, "a reference cannot have \(word)") }
        for (isSet, name) in [
            (field.required, "required"), (field.secret, "secret"), (field.sealed, "sealed"),
            (field.mergesAsSet, "merge"),
        ]
        where isSet {
            throw error(
                "\(place).\(name)",
                "\(name) cannot be combined with \(word), because the field is read-only; remove one")
        }
        if let use = use(of: field.name), !mayBeUsed(field, as: use) {
            throw error(place, "\(field.name) cannot have \(word): \(use) needs a value that is sent")
        }
        if field.follow != nil, entity.push.create.isEmpty {
            throw error(
                "\(place).follow",
                "no record is created locally, so there is nothing to follow; add push.create or remove follow")
        }
    }

    /// The change time may be a text of the upstream's own times: that of the last change, or else that of the creation.
    private func mayBeUsed(_ field: Field, as use: String) -> Bool {
        if use == EntitySchema.changeTimeUse, case .text = field.derivation { return true }
        return use == EntitySchema.changeUse && !field.isComputedOnReading
    }

    private func use(of field: String) -> String? {
        if let use = schema.use(of: field, in: entity) { return use }
        return entity.push.routes.contains { $0.sendable?.contains(field) == true } ? "push" : nil
    }
}

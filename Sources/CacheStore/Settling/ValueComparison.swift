internal import EntitySchema
internal import GRDB
internal import JSONText

/// Compares the values of one entity's fields by what they mean to its server, sealed ones by their clear values.
struct ValueComparison {
    let meaning: Meaning
    let sealer: RecordSealer

    func isSame(_ one: JSONText, _ other: JSONText, of field: String) -> Bool {
        if one == other { return true }
        if meaning.isSame(one, other, of: field) { return true }
        return !sealer.places.isEmpty && sealer.isEquivalent(one, other, of: field)
    }

    /// Whether the server may have made this value of one that it was sent, in a form that is known or would be new.
    func mayBe(_ value: JSONText, of field: String, from sent: JSONText) -> Bool {
        isSame(value, sent, of: field) || meaning.newForms(from: sent, to: value, of: field) != nil
    }
}

/// The normal forms that servers were seen to make of what they were sent, kept permanently.
struct NormalFormTable {
    let db: Database

    func forms(of entity: String) throws -> [String: Set<NormalForm>] {
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT field, form FROM sync_normal_form WHERE entity = ?"), arguments: [entity])
        var forms: [String: Set<NormalForm>] = [:]
        while let row = try rows.next() {
            if let form = NormalForm(rawValue: row[1]) { forms[row[0], default: []].insert(form) }
        }
        return forms
    }

    func insert(_ forms: Set<NormalForm>, of field: String, in entity: String) throws {
        for form in forms {
            try db.cachedStatement(sql: "INSERT INTO sync_normal_form VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
                .execute(arguments: [entity, field, form.rawValue])
        }
    }
}

extension WriteContext {
    func comparison(_ entity: Entity) throws -> ValueComparison {
        if let known = records.meanings[entity.name] {
            return ValueComparison(meaning: known, sealer: sealers[entity.name])
        }
        let meaning = Meaning(entity, forms: try NormalFormTable(db: db).forms(of: entity.name))
        records.meanings[entity.name] = meaning
        return ValueComparison(meaning: meaning, sealer: sealers[entity.name])
    }

    /// Remembers what the server made of a value that it was sent. True if a known form leads from one to the other.
    @discardableResult
    func learn(_ sent: JSONText, as answer: JSONText, of field: String, _ entity: Entity) throws -> Bool {
        let meaning = try comparison(entity).meaning
        guard let forms = meaning.newForms(from: sent, to: answer, of: field) else { return false }
        guard !forms.isEmpty else { return true }
        try NormalFormTable(db: db).insert(forms, of: field, in: entity.name)
        records.meanings[entity.name]?.forms[field, default: []].formUnion(forms)
        return true
    }
}

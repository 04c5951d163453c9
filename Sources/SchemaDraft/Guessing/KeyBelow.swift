/// Keys that are unique only below another record: each task has a variable of the same name. With the key of the task, they are
/// unique.
enum KeyBelow {
    /// Makes the key of two parts: the key of the record above, which is in the field `above`, and the record's own. A record that
    /// some path names by its own key alone keeps that.
    static func join(_ entity: inout DraftEntity, above: String, _ collection: Collection) {
        let own = entity.key.value
        let taken = Set(entity.fields.map { $0.name.lowercased() })
        guard entity.keyLink == nil, KeyGuess.mayRepeat(own), collection.recordPath?.parameters.count != 1,
            let parent = entity[above], let name = FieldNames.field(for: "id", taken: taken)
        else { return }
        entity.keyParts = [parent.from ?? parent.name, own]
        let check = collection.recordPath == nil ? "; check that it differs below one" : ""
        entity.key = Guess(name, "\(own) may repeat below another record\(check)")
        entity.keyMade = nil
        if entity.title == nil, entity[own]?.kind == .simple("string") { entity.title = own }
        entity.fields.insert(DraftField(name, .simple("string")), at: 0)
    }

    /// Makes references to such records plain fields: their values are only a part of the key.
    static func leaveReferences(_ entities: inout [DraftEntity]) {
        var kinds: [String: DraftField.Kind] = [:]
        for entity in entities where !entity.keyParts.isEmpty { kinds[entity.name] = entity[entity.ownKey]?.kind }
        for index in entities.indices {
            for place in entities[index].fields.indices {
                guard case .reference(let target, _) = entities[index].fields[place].kind, let kind = kinds[target]
                else { continue }
                entities[index].fields[place].kind = kind.isReference ? .simple("string") : kind
                entities[index].fields[place].reason = "only a part of the key of \(target)"
            }
        }
    }
}

internal import EntitySchema
internal import JSONText

/// A record as lists and as single reads show it.
struct RecordViews {
    let store: Store
    let entity: Entity

    /// A row of a list: without omitted fields, and with those under their own names that stand elsewhere in a record.
    func listed(_ record: JSONText) -> JSONText {
        guard !entity.isDeleted(record) else { return record }
        var record = record
        if store.habits[.membersElsewhere] { record = flat(record) }
        if let shape = store.settings.shape {
            record = record.without(shape.onlySingle[entity.name] ?? []).without(shape.hidden[entity.name] ?? [])
        }
        let omitted = store.habits.names(.omittedMembers)
        guard !omitted.isEmpty else { return record }
        let rest = record.members.filter { !omitted.contains($0.key) }
        guard rest.count < record.members.count else { return record }
        store.note(.omittedMembers)
        return .object(members: rest)
    }

    /// A record by itself: with each field where the schema says that it stands.
    func single(_ record: JSONText) -> JSONText {
        let isEvery = store.habits[.membersElsewhere]
        let moved = store.settings.shape?.moved[entity.name] ?? []
        let shape = store.settings.shape
        var result = record.without(shape?.onlyList[entity.name] ?? []).without(shape?.hidden[entity.name] ?? [])
        guard isEvery || !moved.isEmpty else { return result }
        for field in entity.fields where isEvery || moved.contains(field.name) {
            guard let source = field.source, let value = record[field.name] else { continue }
            if isEvery { store.note(.membersElsewhere) }
            result = .object(members: result.members.filter { $0.key != field.name })
                .setting(JSONPath.steps(source)[...], to: value)
        }
        return result
    }

    private func flat(_ record: JSONText) -> JSONText {
        var result = record
        for field in entity.fields {
            guard let source = field.source, record[field.name] == nil, let value = record.at(path: source) else {
                continue
            }
            store.note(.membersElsewhere)
            result = result.setting(field.name, to: value)
        }
        let places = entity.fields.compactMap { $0.source?.split(separator: ".").first.map(String.init) }
        return .object(members: result.members.filter { entity[field: $0.key] != nil || !places.contains($0.key) })
    }
}

extension JSONText {
    fileprivate func without(_ names: Set<String>) -> JSONText {
        names.isEmpty ? self : .object(members: members.filter { !names.contains($0.key) })
    }
}

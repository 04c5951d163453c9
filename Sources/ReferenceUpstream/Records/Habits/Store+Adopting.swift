internal import EntitySchema
internal import JSONText

extension Store {
    /// Sets habits, and makes the records what they would be if the server had always had them.
    ///
    /// Deleted records are forgotten. Another style of keys renames all records, so set it before anyone knows them.
    mutating func adopt(_ habits: Habits, at now: Timestamp) {
        let style = state.habits.keyStyle
        state.habits = habits
        state.since = now
        state.versions = []
        guard !habits.isEmpty else { return }
        let keys = style == habits.keyStyle ? [:] : newKeys()
        for entity in schema.entities {
            let renamed = keys[entity.name] ?? [:]
            if !renamed.isEmpty {
                contents[entity.name] = contents[entity.name].map { contents in
                    Dictionary(contents.map { (renamed[$0]?.plain ?? $0, $1) }) { first, _ in first }
                }
            }
            let known = records(of: entity.name) ?? []
            replace(entity, with: known.map { adopted($0, entity, keys, at: now) })
            if habits[.equalTimes], known.count > 1, entity.pull?.changedAt != nil { note(.equalTimes) }
        }
    }

    private func adopted(
        _ record: JSONText, _ entity: Entity, _ keys: [String: [String: JSONText]], at now: Timestamp
    ) -> JSONText {
        var record = Self.renaming(record, entity, keys)
        if let key = record[entity.key], let new = keys[entity.name]?[key.plain] {
            record = record.setting(entity.key, to: new)
        }
        record = Normalisation(entity: entity, habits: habits) { _ in }.applied(to: record)
        guard let field = entity.pull?.changedAt, let key = record[entity.key]?.plain, let value = record[field] else {
            return record
        }
        let known = value.string.flatMap { Timestamp(iso8601: $0) } ?? now
        let isAhead = habits[.futureTimes] && HabitState.concerns(key, share: 0.25)
        return record.setting(field, to: changeTime(of: key, at: habits[.equalTimes] || isAhead ? now : known))
    }

    /// A key in the server's style for every record, by entity and old key.
    private mutating func newKeys() -> [String: [String: JSONText]] {
        guard habits.keyStyle != nil else { return [:] }
        var keys: [String: [String: JSONText]] = [:]
        for entity in schema.entities {
            for record in records(of: entity.name) ?? [] {
                guard let key = record[entity.key]?.plain, !key.isEmpty else { continue }
                if let new = newIdentity(for: entity, of: record) { keys[entity.name, default: [:]][key] = new }
            }
        }
        return keys
    }
}

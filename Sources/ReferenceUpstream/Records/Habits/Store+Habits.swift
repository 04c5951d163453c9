internal import EntitySchema
internal import JSONText

/// What habits make of a write.
extension Store {
    var habits: Habits { state.habits }

    func note(_ habit: Habit) { state.tally.note(habit) }

    func normalisation(of entity: Entity) -> Normalisation {
        Normalisation(entity: entity, habits: habits, note: note)
    }

    /// The members of a write as the server takes them.
    func received(_ fields: JSONText, _ entity: Entity) throws(Refusal) -> JSONText {
        guard !habits.isEmpty else { return fields }
        var fields = normalisation(of: entity).known(fields)
        guard habits[.strictReferences] || habits[.coercedReferences] else { return fields }
        for (name, value) in fields.members where value != .null {
            guard case .reference(let other) = entity[field: name]?.kind, let target = schema[other],
                let key = record(other, key: value.plain)?[target.key], key.kind != value.kind
            else { continue }
            if habits[.strictReferences] {
                note(.strictReferences)
                throw .wrongType(name, key.kind)
            }
            note(.coercedReferences)
            fields = fields.setting(name, to: key)
        }
        return fields
    }

    /// A change time as the server writes it.
    func changeTime(of key: String, at now: Timestamp) -> JSONText {
        var time = now
        if let ahead = habits.time(.futureTimes), HabitState.concerns(key, share: 0.25) {
            note(.futureTimes)
            time = time + ahead
        }
        guard habits[.wholeSeconds] else { return .string(time.description) }
        note(.wholeSeconds)
        return .string("\(time.description.dropLast(5))Z")
    }

    // MARK: Replicas

    /// Keeps the store as it is before a write, for replicas that are behind.
    mutating func remember(at now: Timestamp) {
        let lags = [Habit.laggingLists, .laggingRecords, .laggingAnswers].compactMap { habits.time($0) }
        guard let longest = lags.max() else { return }
        state.versions.removeAll { $0.until <= now - longest }
        var version = self
        version.state.versions = []
        state.versions.append(HabitState.Version(until: now, store: version))
    }

    /// The store as a replica shows it that is behind by this habit's time.
    func replica(_ habit: Habit, at now: Timestamp) -> Store {
        guard var lag = habits.time(habit) else { return self }
        if habits[.wandering] {
            let whole = Int(lag.milliseconds)
            lag = .milliseconds(state.tally.draw { $0.below(whole + 1) })
            note(.wandering)
        }
        let seen = now - lag
        guard var version = state.versions.first(where: { $0.until > seen })?.store else { return self }
        version.state.habits = habits
        version.state.since = state.since
        return version
    }
}

extension Refusal {
    static func wrongType(_ field: String, _ kind: JSONText.Kind) -> Refusal {
        Refusal(
            status: 422, code: "wrong_type", message: "\(field): expected \(kind == .number ? "an integer" : "text")")
    }
}

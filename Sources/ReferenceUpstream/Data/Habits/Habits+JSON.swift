internal import EntitySchema
package import JSONText

extension Habits {
    /// Reads an object with one member for each habit: `true`, a time (`"5s"`), a share (`0.2`), a count, a list of
    /// fields, or a time or `{"after": "30s", "lasts": "1m", "every": "10m"}` for what lasts a while.
    package init(json: JSONText) throws(Refusal) {
        self.init()
        guard json.kind == .object else { throw .invalid("expected an object with one member for each habit") }
        for (name, value) in json.members where value != .null && value != false {
            guard let habit = Habit(rawValue: name) else {
                let known = Habit.allCases.map(\.rawValue).joined(separator: ", ")
                throw .invalid("there is no habit \(name); expected one of \(known)")
            }
            values[habit] = try Self.value(value, of: habit)
        }
        for group in Habit.alternatives {
            let both = group.filter { values[$0] != nil }.map(\.rawValue)
            if both.count > 1 { throw .invalid("\(both.joined(separator: " and ")) exclude each other") }
        }
    }

    private static func value(_ json: JSONText, of habit: Habit) throws(Refusal) -> Value {
        switch habit.kind {
        case .flag:
            guard json == true else { throw .invalid("\(habit.rawValue): expected true") }
            return .on
        case .time: return .time(try time(json, habit))
        case .share:
            guard json.kind == .number, let share = Double(json.text), (0...1).contains(share) else {
                throw .invalid("\(habit.rawValue): expected a number from 0 to 1")
            }
            return .share(share)
        case .count:
            guard let count = json.integer else { throw .invalid("\(habit.rawValue): expected a whole number") }
            return .count(count)
        case .names:
            guard json.kind == .array else { throw .invalid("\(habit.rawValue): expected a list of fields") }
            return .names(json.elements.map(\.plain))
        case .spell: return .spell(try spell(json, habit))
        }
    }

    private static func spell(_ json: JSONText, _ habit: Habit) throws(Refusal) -> Spell {
        guard json.kind == .object else { return Spell(lasts: try time(json, habit)) }
        guard let lasts = json["lasts"] else { throw .invalid("\(habit.rawValue): lasts is missing") }
        var spell = Spell(lasts: try time(lasts, habit))
        if let after = json["after"] { spell.after = try time(after, habit) }
        if let every = json["every"] { spell.every = try time(every, habit) }
        return spell
    }

    private static func time(_ json: JSONText, _ habit: Habit) throws(Refusal) -> Duration {
        guard let time = json.string.flatMap(Duration.init(text:)) else {
            throw .invalid("\(habit.rawValue): expected a time such as 500ms or 30s")
        }
        return time
    }

    /// What `init(json:)` reads.
    package var json: JSONText {
        .object(members: names.map { habit in (key: habit.rawValue, value: values[habit]?.json ?? .null) })
    }
}

extension Habits.Value {
    fileprivate var json: JSONText {
        switch self {
        case .on: true
        case .time(let time): time.json
        case .share(let share): (try? JSONText(parsing: "\(share)")) ?? .null
        case .count(let count): .integer(count)
        case .names(let names): .array(of: names)
        case .spell(let spell):
            .object(
                members: [("after", spell.after.json), ("lasts", spell.lasts.json)]
                    + (spell.every.map { [("every", $0.json)] } ?? []))
        }
    }
}

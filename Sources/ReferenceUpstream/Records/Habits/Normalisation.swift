internal import EntitySchema
internal import Foundation
internal import JSONText

/// What the server makes of the values of one entity.
struct Normalisation {
    let entity: Entity
    let habits: Habits
    /// Called for each habit that changes a value.
    let note: (Habit) -> Void

    /// A whole record with every value in its normal form.
    func applied(to record: JSONText) -> JSONText {
        var record = record
        for field in entity.fields where field.name != entity.key && !field.secret {
            let isOwn = record[field.name] != nil || field.source == nil
            let value = isOwn ? record[field.name] : field.source.flatMap { record.at(path: $0) }
            let normal = normal(value ?? .null, of: field, mayFill: isOwn)
            guard normal != value ?? .null else { continue }
            let path = isOwn ? [field.name[...]] : field.source.map(JSONPath.steps) ?? []
            record = record.setting(path[...], to: normal)
        }
        return record
    }

    /// Without the members that the schema does not name.
    func known(_ fields: JSONText) -> JSONText {
        guard habits[.knownOnly] else { return fields }
        let known = fields.members.filter { entity[field: $0.key] != nil }
        if known.count < fields.members.count { note(.knownOnly) }
        return .object(members: known)
    }

    private func normal(_ value: JSONText, of field: Field, mayFill: Bool) -> JSONText {
        guard value != .null else { return mayFill ? filled(field) : value }
        switch field.kind {
        case .string: return text(value)
        case .number, .money: return number(value)
        case .time: return isChangeTime(field) ? value : time(value)
        case .list:
            guard habits[.sorted] else { return value }
            return noting(.sorted, value, .array(value.elements.sorted { $0.text < $1.text }))
        default: return value
        }
    }

    private func filled(_ field: Field) -> JSONText {
        guard habits[.defaults], !field.isDerivedHere,
            entity.routes(for: .update).contains(where: { $0.canSend(field.name) })
        else { return .null }
        switch field.kind {
        case .string: return noting(.defaults, .null, "")
        case .integer: return noting(.defaults, .null, 0)
        case .number, .money: return number(noting(.defaults, .null, 0))
        case .boolean: return noting(.defaults, .null, false)
        case .list: return noting(.defaults, .null, .array([]))
        default: return .null
        }
    }

    private func text(_ value: JSONText) -> JSONText {
        guard var text = value.string else { return value }
        if habits[.trim] { text = text.trimmingCharacters(in: .whitespacesAndNewlines) }
        let trimmed = text == value.string ? value : noting(.trim, value, .string(text))
        guard habits[.lowerCase], text.lowercased() != text else { return trimmed }
        return noting(.lowerCase, trimmed, .string(text.lowercased()))
    }

    private func number(_ value: JSONText) -> JSONText {
        guard habits[.cents] || habits[.decimalText], var amount = ExactNumber(value)?.number else { return value }
        var rounded = Decimal()
        NSDecimalRound(&rounded, &amount, 2, .plain)
        var number = value
        if habits[.cents], rounded != amount {
            number = noting(.cents, value, ExactNumber(number: rounded).json)
        }
        guard habits[.decimalText] else { return number }
        return noting(.decimalText, number, .string(ExactNumber(number: rounded, decimals: 2).json.text))
    }

    private func time(_ value: JSONText) -> JSONText {
        guard let habit = habits.first(of: [.minutes, .seconds, .milliseconds]), let text = value.string,
            let time = Timestamp(iso8601: text)
        else { return value }
        let step: Int64 = habit == .minutes ? 60_000 : habit == .seconds ? 1000 : 1
        let milliseconds = Int64((Double(time.milliseconds) / Double(step)).rounded(.down)) * step
        let written = Timestamp(milliseconds: milliseconds).description
        return noting(habit, value, .string(habit == .milliseconds ? written : "\(written.dropLast(5))Z"))
    }

    private func isChangeTime(_ field: Field) -> Bool {
        [entity.pull?.changedAt, entity.pull?.whenChanged].contains(field.name)
    }

    private func noting(_ habit: Habit, _ old: JSONText, _ new: JSONText) -> JSONText {
        if old != new { note(habit) }
        return new
    }
}

/// Definitions as text, to compare with those that a database was made with. A text never changes: databases hold it.
///
/// Written by hand, because Swift's own descriptions look up each type at run time, for milliseconds at every start.
extension Field.Kind: CustomStringConvertible {
    package var description: String {
        switch self {
        case .string: "string"
        case .integer: "integer"
        case .number: "number"
        case .money: "money"
        case .boolean: "boolean"
        case .time: "time"
        case .date: "date"
        case .object: "object"
        case .list: "list"
        case .enum(let values): "enum([\(values.map(\.definition).joined(separator: ", "))])"
        case .reference(let entity): "reference(to: \(entity.debugDescription))"
        }
    }
}

extension Field.EnumValue {
    fileprivate var definition: String {
        "EntitySchema.Field.EnumValue(value: \(value.debugDescription), display: \(label.debugDescription))"
    }
}

extension Derivation {
    package var definition: String {
        switch self {
        case .text(let patterns): "text(\(patterns.map(\.source).joined(separator: " | ")))"
        case .test(let test): "is(\(test.definition))"
        case .children(let figure): "children(\(figure.definition))"
        }
    }
}

extension ChildFigure {
    fileprivate var definition: String {
        let tests = conditions.map { "\($0.field) \($0.excluded ? "not in" : "in") \($0.values)" }
        return ([relation, measure.definition] + tests).joined(separator: ", ")
    }
}

extension ChildFigure.Measure {
    fileprivate var definition: String {
        switch self {
        case .count: "count"
        case .sum(let field): "sum(\(field))"
        case .latest(let field, let by): "latest(\(field), \(by))"
        }
    }
}

extension QueueFollowing {
    package var definition: String { "\(queued), \(failed), \(order)" }
}

extension Entity.Tie {
    package var definition: String { "\(entity) \(field) \(onDelete.rawValue) \(isCounted)" }
}

extension RecordTest {
    var definition: String {
        alternatives.map { conditions in
            conditions.map { "\($0.name) \($0.values.map { $0 ?? "null" })" }.joined(separator: ", ")
        }.joined(separator: " | ")
    }
}

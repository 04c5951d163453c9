package import JSONText

/// A question about a record's own fields, answered by true or false.
package struct RecordTest: Sendable, Equatable {
    package enum Comparison: String, Sendable, Equatable, CaseIterable {
        case isOneOf = ""
        case isNoneOf = "ne"
        case isLess = "lt"
        case isAtMost = "lte"
        case isGreater = "gt"
        case isAtLeast = "gte"
    }

    package struct Condition: Sendable, Equatable {
        package var field: String
        package var comparison: Comparison
        /// Plain texts; nil stands for a missing value. One for the comparisons by size: a number or a time.
        package var values: [String?]

        /// As the key of a schema: `balance.lte`.
        var name: String { comparison == .isOneOf ? field : "\(field).\(comparison.rawValue)" }
    }

    /// It is true if all conditions of one of these hold.
    package var alternatives: [[Condition]]

    package var names: [String] { alternatives.joined().map(\.field) }

    /// The fields without which a record can fail.
    package var neededNames: Set<String> {
        Set(alternatives.joined().filter { !$0.holds(for: nil) }.map(\.field))
    }

    /// `value` returns a field's value; nil and null are missing.
    package func holds(_ value: (String) -> JSONText?) -> Bool {
        alternatives.contains { conditions in
            conditions.allSatisfy { condition in
                let value = value(condition.field)
                return condition.holds(for: value?.kind == .null ? .none : value)
            }
        }
    }
}

extension RecordTest.Condition {
    fileprivate func holds(for value: JSONText?) -> Bool {
        switch comparison {
        case .isOneOf: return values.contains(value?.plain)
        case .isNoneOf: return !values.contains(value?.plain)
        case .isLess, .isAtMost, .isGreater, .isAtLeast:
            guard let value, let bound = values.first ?? nil else { return false }
            if let bound = JSONText.string(bound).amount {
                return value.amount.map { holds($0, bound) } ?? false
            }
            guard let time = value.changeTime, let bound = Timestamp(iso8601: bound) else { return false }
            return holds(time, bound)
        }
    }

    private func holds<Value: Comparable>(_ value: Value, _ bound: Value) -> Bool {
        switch comparison {
        case .isLess: value < bound
        case .isAtMost: value <= bound
        case .isGreater: value > bound
        default: value >= bound
        }
    }
}

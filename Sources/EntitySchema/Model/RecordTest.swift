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
        package var values: [String?] { didSet { amount = Self.amount(comparison, values) } }
        /// The number to compare by, if it is one: read once, and not for each record.
        private var amount: ExactDecimal?

        init(field: String, comparison: Comparison, values: [String?]) {
            self.field = field
            self.comparison = comparison
            self.values = values
            amount = Self.amount(comparison, values)
        }

        /// As the key of a schema: `balance.lte`.
        var name: String { comparison == .isOneOf ? field : "\(field).\(comparison.rawValue)" }
    }

    /// It is true if all conditions of one of these hold.
    package var alternatives: [[Condition]]

    package var names: [String] { alternatives.joined().map(\.field) }

    /// The fields not in `shown` whose absence keeps every record from passing; empty if some record can pass.
    package func missing(from shown: Set<String>) -> Set<String> {
        var missing: Set<String> = []
        for conditions in alternatives {
            let hidden = conditions.filter { !$0.holds(for: nil) && !shown.contains($0.field) }.map(\.field)
            guard !hidden.isEmpty else { return [] }
            missing.formUnion(hidden)
        }
        return missing
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
    private static func amount(_ comparison: RecordTest.Comparison, _ values: [String?]) -> ExactDecimal? {
        guard comparison != .isOneOf, comparison != .isNoneOf, let bound = values.first ?? nil else { return nil }
        return JSONText.string(bound).amount
    }

    fileprivate func holds(for value: JSONText?) -> Bool {
        switch comparison {
        case .isOneOf: return values.contains(value?.plain)
        case .isNoneOf: return !values.contains(value?.plain)
        case .isLess, .isAtMost, .isGreater, .isAtLeast:
            guard let value, let bound = values.first ?? nil else { return false }
            if let amount { return value.amount.map { holds($0, amount) } ?? false }
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

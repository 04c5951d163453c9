internal import JSONText

extension RecordTest {
    /// Whether each record that passes passes the other test too, as far as the conditions themselves show it. Their values
    /// must not be templates.
    func implies(_ other: RecordTest) -> Bool {
        alternatives.allSatisfy { conditions in
            other.alternatives.contains { wanted in
                wanted.allSatisfy { condition in conditions.contains { $0.implies(condition) } }
            }
        }
    }
}

extension RecordTest.Condition {
    fileprivate func implies(_ other: RecordTest.Condition) -> Bool {
        guard field == other.field else { return false }
        return switch (comparison, other.comparison) {
        case (.isOneOf, .isOneOf): Set(values).isSubset(of: other.values)
        case (.isNoneOf, .isNoneOf): Set(values).isSuperset(of: other.values)
        case (.isOneOf, .isNoneOf): Set(values).isDisjoint(with: other.values)
        case (.isGreater, .isGreater), (.isGreater, .isAtLeast), (.isAtLeast, .isAtLeast):
            order(other).map { $0 >= 0 } ?? false
        case (.isAtLeast, .isGreater): order(other).map { $0 > 0 } ?? false
        case (.isLess, .isLess), (.isLess, .isAtMost), (.isAtMost, .isAtMost): order(other).map { $0 <= 0 } ?? false
        case (.isAtMost, .isLess): order(other).map { $0 < 0 } ?? false
        default: false
        }
    }

    /// Below 0 if its bound is less than the other one; nil unless both are numbers or both are times.
    private func order(_ other: RecordTest.Condition) -> Int? {
        guard let bound = values.first ?? nil, let wanted = other.values.first ?? nil else { return nil }
        switch (JSONText.string(bound).amount, JSONText.string(wanted).amount) {
        case (let one?, let two?): return Self.order(one, two)
        case (nil, nil):
            guard let one = Timestamp(iso8601: bound), let two = Timestamp(iso8601: wanted) else { return nil }
            return Self.order(one, two)
        default: return nil
        }
    }

    private static func order<Value: Comparable>(_ one: Value, _ two: Value) -> Int {
        one < two ? -1 : one > two ? 1 : 0
    }
}

package import GRDB
internal import JSONText

/// The SQL aggregate `exact_sum(json)`: sums numbers given as JSON text, and returns JSON text, without rounding.
///
/// Null, and anything that is not an amount of money, adds nothing.
package struct ExactSum: DatabaseAggregate {
    package static let function = DatabaseFunction("exact_sum", argumentCount: 1, pure: true, aggregate: ExactSum.self)

    private var sum = Amount.zero

    package init() {}

    package mutating func step(_ values: [DatabaseValue]) {
        guard let value = values.first, let text = String.fromDatabaseValue(value), let amount = Amount(json: text)
        else { return }
        sum = sum + amount
    }

    package func finalize() -> (any DatabaseValueConvertible)? { sum.json.text }
}

public import Foundation

/// A value that a field is compared with: text, a number, a truth value or a time.
public struct FilterValue: Sendable, Hashable {
    /// The value as it stands in a query.
    public let text: String

    /// Text, or anything else as text.
    public init(_ text: String) { self.text = text }
    /// A whole number.
    public init(_ number: Int) { text = String(number) }
    /// A decimal number, such as a price.
    public init(_ number: Decimal) { text = number.description }
    /// True or false.
    public init(_ value: Bool) { text = value ? "true" : "false" }
    /// A number as the daemon sent it.
    public init(_ number: JSONNumber) { text = number.text }
    /// A time, to the millisecond.
    public init(_ date: Date) { text = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }
}

extension FilterValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    /// Text.
    public init(stringLiteral value: String) { self.init(value) }
    /// A whole number.
    public init(integerLiteral value: Int) { self.init(value) }
    /// A number with a fraction, in the fewest digits that mean it.
    public init(floatLiteral value: Double) { text = value.description }
    /// True or false.
    public init(booleanLiteral value: Bool) { self.init(value) }
}

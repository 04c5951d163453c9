public import Foundation

/// A number of JSON, as the text that stands there: money never passes through a binary fraction.
///
/// Two numbers are equal if their texts are: `1.0` is not `1`.
public struct JSONNumber: Sendable, Hashable, CustomStringConvertible {
    /// The digits, as they came: `81.30`.
    public let text: String

    /// A whole number.
    public init(_ value: Int) { text = String(value) }

    /// A decimal number.
    public init(_ value: Decimal) { text = value.description }

    /// A binary fraction, in the fewest digits that mean it; nil if it is not finite.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        text = value.description
    }

    /// Nil if the text is no number of JSON (RFC 8259, 6).
    public init?(text: String) {
        var reader = JSONReader(Array(text.utf8))
        guard case .number(let number) = try? reader.document(), number.text == text else { return nil }
        self = number
    }

    init(checked text: String) { self.text = text }

    /// A whole number that fits; nil otherwise.
    public var int: Int? { Int(text) }

    /// The nearest binary fraction.
    public var double: Double { Double(text) ?? .nan }

    /// The same number, for calculating with money; nil if it has more digits than a `Decimal` holds.
    public var decimal: Decimal? {
        let digits = text.prefix { $0 != "e" && $0 != "E" }.filter(\.isNumber)
        guard digits.drop(while: { $0 == "0" }).count <= 38 else { return nil }
        return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    }

    /// The digits.
    public var description: String { text }
}

extension JSONValue {
    /// The number of a price or a count, exactly; nil for any other value.
    public var decimal: Decimal? { number?.decimal }

    /// The time of a text such as `2026-11-22T05:06:17.770Z`; nil for any other value.
    public var date: Date? {
        guard let string else { return nil }
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: string.contains("."))
        return try? style.parse(string)
    }
}

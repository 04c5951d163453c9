/// The id of a record of one entity, so that the id of a client is never taken for that of an order.
///
/// A natural key works too, where the schema has one: `"order_number:1486"`.
public struct RecordID<Of>: FieldValue, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The id as it came: some upstreams have numbers.
    public let fieldValue: JSONValue

    /// An id as text.
    public init(_ text: String) { fieldValue = .string(text) }

    /// An id as text.
    public init(stringLiteral value: String) { self.init(value) }

    /// Nil unless the value is text or a number.
    public init?(fieldValue: JSONValue) {
        guard fieldValue.string != nil || fieldValue.number != nil else { return nil }
        self.fieldValue = fieldValue
    }

    /// The id as text.
    public var text: String { fieldValue.plain }

    /// The id as text.
    public var description: String { text }

    /// A number is equal to its text.
    public static func == (one: RecordID, other: RecordID) -> Bool { one.text == other.text }

    /// A number is equal to its text.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// A day of the calendar, without a time: `2026-11-25`.
public struct Day: FieldValue, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The day as `2026-11-25`.
    public let text: String

    /// Any text: the daemon refuses one that is no day.
    public init(_ text: String) { self.text = text }

    /// A day as `2026-11-25`.
    public init(stringLiteral value: String) { self.init(value) }

    /// A day of the Gregorian calendar.
    public init(year: Int, month: Int, day: Int) {
        let pad = { (number: Int, width: Int) in
            String(repeating: "0", count: max(0, width - String(number).count)) + String(number)
        }
        text = "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))"
    }

    /// Nil unless the value is text.
    public init?(fieldValue: JSONValue) {
        guard let text = fieldValue.string else { return nil }
        self.init(text)
    }

    /// The day as it is sent.
    public var fieldValue: JSONValue { .string(text) }

    /// The day as `2026-11-25`.
    public var description: String { text }

    /// Whether a day is before another.
    public static func < (one: Day, other: Day) -> Bool { one.text < other.text }
}

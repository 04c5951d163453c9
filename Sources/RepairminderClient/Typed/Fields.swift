/// A field that lists sort by.
public protocol ListedField: Sendable, Hashable {
    /// The name as it stands in a query.
    var name: String { get }
}

extension ListedField {
    /// The field is null or missing.
    public var isNull: Condition { .isNull(name) }
}

/// A field that is compared with whole values.
public protocol ComparedField: ListedField {
    /// The type of the field's values.
    associatedtype Value: FieldValue
}

extension ComparedField {
    /// The field is this value.
    public static func == (field: Self, value: Value) -> Condition { .equals(field.name, value.filter) }

    /// The field is neither this value nor null.
    public static func != (field: Self, value: Value) -> Condition { .not(.equals(field.name, value.filter)) }

    /// The field is one of these values.
    public func isOneOf(_ values: Value...) -> Condition { isOneOf(values) }

    /// The field is one of these values.
    public func isOneOf(_ values: [Value]) -> Condition { .isOneOf(name, values.map(\.filter)) }
}

/// A field whose values have an order.
public protocol OrderedField: ComparedField {}

extension OrderedField {
    /// The field is less than this.
    public static func < (field: Self, value: Value) -> Condition { .isLess(field.name, value.filter) }

    /// The field is at most this.
    public static func <= (field: Self, value: Value) -> Condition { .isAtMost(field.name, value.filter) }

    /// The field is greater than this.
    public static func > (field: Self, value: Value) -> Condition { .isGreater(field.name, value.filter) }

    /// The field is at least this.
    public static func >= (field: Self, value: Value) -> Condition { .isAtLeast(field.name, value.filter) }
}

/// A number, a truth value, a time or a day.
public struct ValueField<Value: FieldValue>: OrderedField {
    /// The name as it stands in a query.
    public let name: String
}

/// A field of text.
public struct TextField<Value: FieldValue>: OrderedField {
    /// The name as it stands in a query.
    public let name: String

    /// The field begins with this text; A to Z in either case.
    public func starts(with text: String) -> Condition { .starts(name, text) }

    /// The field has this text in it; A to Z in either case.
    public func contains(_ text: String) -> Condition { .contains(name, text) }
}

/// A field that is stored encrypted.
public struct SealedField<Value: FieldValue>: ComparedField {
    /// The name as it stands in a query.
    public let name: String
}

/// A list.
public struct ListField: ListedField {
    /// The name as it stands in a query.
    public let name: String

    /// The list has this element.
    public func has(_ element: FilterValue) -> Condition { .has(name, element) }
}

/// An object.
public struct ObjectField: ListedField {
    /// The name as it stands in a query.
    public let name: String

    /// A place in the object, by the names that lead there.
    public func at(_ names: String...) -> SealedField<JSONValue> {
        SealedField(name: ([name] + names).joined(separator: "."))
    }
}

// MARK: Conditions

extension Condition {
    /// Both hold.
    public static func && (one: Condition, other: Condition) -> Condition { .all(one.parts + other.parts) }

    /// At least one holds.
    public static func || (one: Condition, other: Condition) -> Condition { .any(one.choices + other.choices) }

    /// The condition does not hold. A field that is null meets neither a comparison nor its negation.
    public static prefix func ! (condition: Condition) -> Condition { .not(condition) }

    /// The conditions that must all hold.
    var parts: [Condition] { if case .all(let parts) = self { parts } else { [self] } }

    private var choices: [Condition] { if case .any(let choices) = self { choices } else { [self] } }
}

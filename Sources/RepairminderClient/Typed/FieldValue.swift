public import Foundation

/// A value that a field of a record has in a program.
public protocol FieldValue: Sendable, Hashable {
    /// Nil if the value in the record is of another type.
    init?(fieldValue: JSONValue)
    /// The value as it is sent.
    var fieldValue: JSONValue { get }
}

extension FieldValue {
    /// The value as it is compared in a query.
    var filter: FilterValue { FilterValue(fieldValue.plain) }
}

extension Record {
    /// The value of a field: the member of its name or, when that is missing or null, the value at a place inside the record.
    ///
    /// Nil also if the value is of another type: `self[name]` has it as it came.
    public func value<Value: FieldValue>(_ name: String, at place: String...) -> Value? {
        if let own = json[name], !own.isNull || place.isEmpty { return Value(fieldValue: own) }
        guard let first = place.first else { return nil }
        let found = place.dropFirst().reduce(json[first]) { value, step in value?[step] }
        return found.flatMap { Value(fieldValue: $0) }
    }

    /// The key of the record, which stands in the member of this name.
    public func id<Of>(_ key: String) -> RecordID<Of> { value(key) ?? RecordID("") }
}

extension JSONObject {
    /// The value of a member; nil if there is none, or if it is of another type.
    public func value<Value: FieldValue>(_ name: String) -> Value? { self[name].flatMap { Value(fieldValue: $0) } }

    /// Sets a member; nil sets it to null.
    public mutating func set(_ name: String, to value: (some FieldValue)?) { self[name] = value?.fieldValue ?? .null }
}

// MARK: Types

extension String: FieldValue {
    /// Text.
    public init?(fieldValue: JSONValue) {
        guard let text = fieldValue.string else { return nil }
        self = text
    }
    /// Text.
    public var fieldValue: JSONValue { .string(self) }
}

/// Upstreams also send numbers and truth values in quotes.
extension Int: FieldValue {
    /// A whole number.
    public init?(fieldValue: JSONValue) { self.init(fieldValue.plain) }
    /// A whole number.
    public var fieldValue: JSONValue { .number(JSONNumber(self)) }
}

extension Decimal: FieldValue {
    /// A number, exactly; nil if it has more than 38 digits.
    public init?(fieldValue: JSONValue) {
        guard let number = fieldValue.number ?? fieldValue.string.flatMap({ JSONNumber(text: $0) }),
            let decimal = number.decimal
        else { return nil }
        self = decimal
    }
    /// A number, exactly.
    public var fieldValue: JSONValue { .number(JSONNumber(self)) }
}

extension Bool: FieldValue {
    /// True or false.
    public init?(fieldValue: JSONValue) { self.init(fieldValue.plain) }
    /// True or false.
    public var fieldValue: JSONValue { .bool(self) }
}

extension Date: FieldValue {
    /// A time, to the millisecond.
    public init?(fieldValue: JSONValue) {
        guard let date = fieldValue.date else { return nil }
        self = date
    }
    /// A time, to the millisecond.
    public var fieldValue: JSONValue { .string(FilterValue(self).text) }
}

extension JSONObject: FieldValue {
    /// An object with all its members.
    public init?(fieldValue: JSONValue) {
        guard let object = fieldValue.object else { return nil }
        self = object
    }
    /// An object with all its members.
    public var fieldValue: JSONValue { .object(self) }
}

extension Array: FieldValue where Element == JSONValue {
    /// A list.
    public init?(fieldValue: JSONValue) {
        guard let elements = fieldValue.array else { return nil }
        self = elements
    }
    /// A list.
    public var fieldValue: JSONValue { .array(self) }
}

extension JSONValue: FieldValue {
    /// The value itself; nil for null.
    public init?(fieldValue: JSONValue) {
        guard !fieldValue.isNull else { return nil }
        self = fieldValue
    }
    /// The value itself.
    public var fieldValue: JSONValue { self }
}

extension OpenName where Self: FieldValue {
    /// A name, known or not.
    public init?(fieldValue: JSONValue) {
        guard !fieldValue.isNull else { return nil }
        self.init(rawValue: fieldValue.plain)
    }
    /// The name.
    public var fieldValue: JSONValue { .string(rawValue) }
}

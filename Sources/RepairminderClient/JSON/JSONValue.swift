/// A JSON value, exactly as the daemon sent it: numbers keep their digits, objects the order of their members.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, as text.
    case number(JSONNumber)
    /// Text.
    case string(String)
    /// A list.
    case array([JSONValue])
    /// An object.
    case object(JSONObject)
    /// Text that no `String` can hold, because half of a surrogate pair is missing: its JSON, quotes included.
    case brokenString(json: String)

    /// The text of a string; nil for any other value.
    public var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The number; nil for any other value.
    public var number: JSONNumber? { if case .number(let number) = self { number } else { nil } }

    /// A whole number that fits; nil for any other value.
    public var int: Int? { number?.int }

    /// True or false; nil for any other value.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The elements of a list; nil for any other value.
    public var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// The object; nil for any other value.
    public var object: JSONObject? { if case .object(let object) = self { object } else { nil } }

    /// Whether this is `null`.
    public var isNull: Bool { self == .null }

    /// The member of an object; nil if there is none, or if this is no object.
    public subscript(name: String) -> JSONValue? { object?[name] }

    /// The value for people: text without its quotes, anything else as JSON, null as nothing.
    public var plain: String {
        switch self {
        case .null: ""
        case .string(let text): text
        default: text
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
    /// A number with a fraction, in the fewest digits that mean it. `null` if it is not finite.
    public init(floatLiteral value: Double) { self = JSONNumber(value).map(JSONValue.number) ?? .null }
    /// True or false.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A list.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON.
    public var description: String { text }
}

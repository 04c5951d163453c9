/// Something that the daemon sends as an object: named members for what is known, and the whole object for the rest.
public protocol JSONDocument: Sendable, Hashable, CustomStringConvertible {
    /// The object as it came, with members that this version of the library does not know.
    var json: JSONObject { get }

    /// Nil if the object lacks what identifies it.
    init?(json: JSONObject)
}

extension JSONDocument {
    /// The object as JSON.
    public var description: String { json.description }

    /// Any member by its name; nil if there is none.
    public subscript(name: String) -> JSONValue? { json[name] }
}

/// One of a list of names that grows: an unknown one is kept as it is. Switch over it with a `default`.
public protocol OpenName: RawRepresentable<String>, Sendable, Hashable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// Any name, known or not.
    init(rawValue: String)
}

extension OpenName {
    /// The name.
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// The name.
    public var description: String { rawValue }
}

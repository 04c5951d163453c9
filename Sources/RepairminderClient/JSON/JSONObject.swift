/// An object of JSON. Its members keep their order; two objects are equal if they have equal members in any order.
public struct JSONObject: Sendable {
    /// A name and its value.
    public struct Member: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: JSONValue
    }

    /// All members, as they came.
    public private(set) var members: [Member]

    /// An object without members.
    public init() { members = [] }

    /// The last of two values for one name counts.
    public init(_ members: some Sequence<(String, JSONValue)>) {
        self.init()
        for (name, value) in members { self[name] = value }
    }

    /// Members as they came.
    init(read members: [Member]) { self.members = members }

    /// The value of a member, of several with one name that of the last; nil if there is none.
    ///
    /// Setting nil removes it; `.null` is a value.
    public subscript(name: String) -> JSONValue? {
        get { members.last { $0.name == name }?.value }
        set {
            let place = members.lastIndex { $0.name == name }
            switch (place, newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil): members.remove(at: place)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The names, in order.
    public var names: [String] { members.map(\.name) }

    /// Whether there are no members.
    public var isEmpty: Bool { members.isEmpty }

    /// The object without some members.
    public func removing(_ names: String...) -> JSONObject {
        JSONObject(read: members.filter { !names.contains($0.name) })
    }
}

extension JSONObject: Hashable {
    /// Whether both have equal members.
    public static func == (one: JSONObject, other: JSONObject) -> Bool {
        guard one.members.count == other.members.count else { return false }
        return one.members == other.members || one.members.allSatisfy { other[$0.name] == $0.value }
    }

    /// Independent of the order of the members.
    public func hash(into hasher: inout Hasher) { hasher.combine(Set(members)) }
}

extension JSONObject: ExpressibleByDictionaryLiteral, CustomStringConvertible {
    /// The members in the order of the literal.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }

    /// The object as JSON.
    public var description: String { JSONValue.object(self).text }
}

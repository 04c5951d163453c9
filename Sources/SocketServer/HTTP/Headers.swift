/// Header fields in order of arrival; names are case-insensitive (RFC 9110, 5.1).
package struct Headers: Sendable, Equatable {
    package private(set) var fields: [Field] = []

    package struct Field: Sendable, Equatable {
        package var name: String
        package var value: String
    }

    package init() {}

    package mutating func append(name: String, value: String) { fields.append(Field(name: name, value: value)) }

    mutating func append(_ field: Field) { fields.append(field) }

    mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

    /// Gives every field with this name another value.
    mutating func replace(name: String, value: String) {
        for index in fields.indices where Headers.same(fields[index].name, name) { fields[index].value = value }
    }

    /// The value of the only field with this name; nil when there is none or more than one.
    package subscript(single name: String) -> String? {
        var found: Int?
        let length = name.utf8.count
        // By index, because a walk over the fields copies each of them.
        for index in fields.indices where isSame(index, name, length) {
            guard found == nil else { return nil }
            found = index
        }
        return found.map { fields[$0].value }
    }

    /// The values of all fields with this name, in order.
    package subscript(all name: String) -> [String] {
        var values: [String] = []
        let length = name.utf8.count
        for index in fields.indices where isSame(index, name, length) { values.append(fields[index].value) }
        return values
    }

    /// Whether the field at an index has this name, whose length comes first: each request is looked through a dozen times for
    /// fields that it does not have, and nearly all names differ in it.
    @inline(__always)
    private func isSame(_ index: Int, _ name: String, _ length: Int) -> Bool {
        fields[index].name.utf8.count == length && Headers.same(fields[index].name, name)
    }

    /// Whether two names or tokens are equal, ignoring ASCII case.
    static func same(_ one: String, _ other: String) -> Bool {
        guard one.utf8.count == other.utf8.count else { return false }
        // Most names come as they are written here, and comparing whole texts takes a tenth of comparing their bytes.
        if one == other { return true }
        // Of the same length, but another name: nearly all begin differently.
        guard Grammar.lowercase(one.utf8[one.startIndex]) == Grammar.lowercase(other.utf8[other.startIndex]) else {
            return false
        }
        var (one, other) = (one, other)
        return one.withUTF8 { one in
            other.withUTF8 { other in
                one.indices.allSatisfy { Grammar.lowercase(one[$0]) == Grammar.lowercase(other[$0]) }
            }
        }
    }
}

/// What a document says about one value: its type, members and elements, with references and combinations resolved.
struct DataShape: Sendable {
    enum Kind: String, Sendable {
        case string, integer, number, boolean, object, array, unknown
    }

    struct Property: Sendable {
        var name: String
        /// All that the document says about it, which holds together.
        var parts: [DocumentValue]
    }

    struct EnumValue: Sendable, Equatable {
        var value: String
        /// As the document names it for people.
        var label: String?
    }

    var kind = Kind.unknown
    var format: String?
    var enumValues: [EnumValue] = []
    var properties: [Property] = []
    var required: Set<String> = []
    /// What some of its forms must have, and not all.
    var requiredOfSome: Set<String> = []
    /// What the document says about elements of an array.
    var items: [DocumentValue] = []
    /// Its members have any names, and values of one kind.
    var isMap = false
    /// It may be null.
    var isNullable = false
    var isReadOnly = false
    var isWriteOnly = false
    var description: String?
    var pattern: String?
    var minimum: Int?
    var maximum: Int?
    var initial: String?
    var example: DocumentValue?
    /// The path of the list whose records it names by their keys, if that was observed.
    var refersTo: String?
    /// That of the component it is made of.
    var name: String?

    subscript(name: String) -> Property? { properties.first { $0.name == name } }

    /// Its members, however they are spelled.
    var memberNames: Set<String> { Set(properties.map { Words.folded($0.name) }) }

    /// The value that it has if no one chooses one: the initial one, or the only one that it may have.
    var preset: String? { initial ?? (enumValues.count == 1 ? enumValues[0].value : nil) }

    var isList: Bool { kind == .array }
    var isNumber: Bool { kind == .integer || kind == .number }
    /// Also where the document does not say.
    var isTextOrNumber: Bool { isNumber || kind == .string || kind == .unknown }
}

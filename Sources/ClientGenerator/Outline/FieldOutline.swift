internal import EntitySchema
internal import JSONText

/// A field as generated code has it.
struct FieldOutline {
    /// What the values of a field are in a program.
    enum Kind {
        case string, integer, decimal, boolean, time, day, object, list
        /// A name of a growing list; the type's name.
        case name(String)
        /// The id of a record of another entity; the name of the id's type.
        case id(String)
    }

    /// The name in the schema.
    let name: String
    /// The name in the program.
    let identifier: String
    let kind: Kind
    /// Where the upstream's record has the value if there is no member of the name.
    var place: [String] = []
    var isRequired = false
    var isSealed = false
    /// Whether a record shows the value as the upstream writes it, which is not how a program writes it.
    var isShownRaw = false

    /// Whether lists compare it with texts in it.
    var isText: Bool {
        switch kind {
        case .string, .name: true
        case .id: !isNumber
        default: false
        }
    }

    /// A key of digits is compared as a number.
    var isNumber = false

    /// The path `place.in."a record"` as its steps.
    static func place(_ field: Field) -> [String] { field.source.map { JSONPath.steps($0).map(String.init) } ?? [] }
}

/// An enum: a growing list of names.
struct EnumOutline {
    struct Value {
        let identifier: String
        let value: String
        let label: String
    }

    let type: String
    let values: [Value]
}

/// A relation to records of another entity.
struct RelationOutline {
    let name: String
    let identifier: String
    /// The type of the other records.
    let type: String
    let isMany: Bool
    /// Whether lists filter by fields of the other record.
    let isFiltered: Bool
}

internal import EntitySchema

/// A schema as generated code has it: every name is a valid identifier, and each is there once.
struct ClientOutline {
    /// The names of an entity in a program.
    struct TypeNames {
        let record: String
        let id: String
        let accessor: String
    }

    let records: [RecordOutline]

    init(_ schema: EntitySchema, _ rules: NamingRules) {
        var topLevel = NameScope(.pascal, reserved: rules.reservedTypes, word: "record")
        var accessors = NameScope(rules.members, reserved: rules.reservedAccessors, word: "records")
        var types: [String: TypeNames] = [:]
        for entity in schema.entities {
            let record = topLevel.name(Words(entity.name).singular)
            let id = rules.nestsTypes ? "\(record).ID" : topLevel.name(Words("\(record)_id"))
            // What the generator adds for each entity has names of its own.
            for suffix in rules.typesOfRecord { _ = topLevel.name(Words("\(record)_\(suffix)")) }
            types[entity.name] = TypeNames(record: record, id: id, accessor: accessors.name(Words(entity.name)))
        }
        let outliner = RecordOutliner(schema: schema, rules: rules, types: types)
        var records: [RecordOutline] = []
        for entity in schema.entities {
            if let outline = outliner.outline(entity, &topLevel) { records.append(outline) }
        }
        self.records = records
    }
}

/// How a language names things, and which names mean something there already.
struct NamingRules {
    let members: NameScope.Style
    let constants: NameScope.Style
    /// Whether the types of a record's parts stand inside its type.
    let nestsTypes: Bool
    let reservedTypes: Set<String>
    let reservedNested: Set<String>
    let reservedAccessors: Set<String>
    let reservedMembers: Set<String>
    let reservedConstants: Set<String>
    /// The types that stand beside that of a record, without the record's name.
    var typesOfRecord: [String] = []
}

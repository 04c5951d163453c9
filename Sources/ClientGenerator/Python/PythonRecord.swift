/// An entity as classes of Python, over the record as it came.
struct PythonRecord {
    let record: RecordOutline

    var classes: [[String]] { [self.type, fields, relations] + [new, changes].compactMap(\.self) + [records] }

    // MARK: Reading

    private var type: [String] {
        let constants = [
            "    ENTITY = \(SafeText.python(record.entity))", "    fields: ClassVar[\(record.type)Fields]",
            "    relations: ClassVar[\(record.type)Relations]",
        ]
        let id = property(
            "id", record.idType, ["return \(record.idType)(_as_id(self._at(\(SafeText.python(record.key)))) or \"\")"])
        let values = record.shown.filter { $0.identifier != "id" }.flatMap { field in
            let place = ([field.name] + (field.place == [field.name] ? [] : field.place)).map(SafeText.python)
            let found = "self._at(\(place.joined(separator: ", ")))"
            return field.isShownRaw
                ? property(field.identifier, "JSON", ["return \(found)"])
                : property(
                    field.identifier, "Optional[\(Self.type(of: field))]", ["return \(Self.reading(field, found))"])
        }
        let related = record.relations.flatMap { relation -> [String] in
            let name = SafeText.python(relation.name)
            return relation.isMany
                ? property(
                    relation.identifier, "Sequence[\(relation.type)]",
                    [
                        "\"\"\"Empty unless they were included.\"\"\"",
                        "return [\(relation.type)(one) for one in self._many(\(name))]",
                    ])
                : property(
                    relation.identifier, "Optional[\(relation.type)]",
                    [
                        "\"\"\"None unless it was included.\"\"\"", "found = self._one(\(name))",
                        "return None if found is None else \(relation.type)(found)",
                    ])
        }
        return ["class \(record.type)(Record):", "    \"\"\"A record of `\(record.entity)`.\"\"\"", ""] + constants + id
            + values + related + [""]
    }

    private func property(_ name: String, _ type: String, _ body: [String]) -> [String] {
        ["", "    @property", "    def \(name)(self) -> \(type):"] + body.map { "        \($0)" }
    }

    private static func reading(_ field: FieldOutline, _ found: String) -> String {
        switch field.kind {
        case .string: "_as_text(\(found))"
        case .integer: "_as_integer(\(found))"
        case .decimal: "_as_decimal(\(found))"
        case .boolean: "_as_boolean(\(found))"
        case .time: "_as_time(\(found))"
        case .day: "_as_day(\(found))"
        case .object: "_as_object(\(found))"
        case .list: "_as_list(\(found))"
        case .name(let type), .id(let type): "_as_named(\(type), \(found))"
        }
    }

    private static func type(of field: FieldOutline) -> String {
        switch field.kind {
        case .string: "str"
        case .integer: "int"
        case .decimal: "decimal.Decimal"
        case .boolean: "bool"
        case .time: "datetime.datetime"
        case .day: "datetime.date"
        case .object: "dict[str, JSON]"
        case .list: "list[JSON]"
        case .name(let type), .id(let type): type
        }
    }

    // MARK: Queries

    private var fields: [String] {
        let attributes = record.listed.map { field in
            "        self.\(field.identifier) = \(Self.listed(field))(prefix + \(SafeText.python(field.name)))"
        }
        let related = record.relations.filter(\.isFiltered).map { relation in
            property(
                relation.identifier, "\(relation.type)Fields",
                ["return \(relation.type)Fields(self._prefix + \(SafeText.python(relation.name + ".")))"])
        }
        return [
            "class \(record.type)Fields:", "    \"\"\"What lists filter and sort by.\"\"\"", "",
            "    def __init__(self, prefix: str = \"\") -> None:", "        self._prefix = prefix",
        ] + attributes + related.flatMap(\.self) + [""]
    }

    private static func listed(_ field: FieldOutline) -> String {
        switch field.kind {
        case .object: "ObjectField"
        case .list: "ListField"
        default: "\(field.isSealed ? "SealedField" : field.isText ? "TextField" : "ValueField")[\(type(of: field))]"
        }
    }

    private var relations: [String] {
        let paths = record.relations.flatMap { relation in
            property(
                relation.identifier, "\(relation.type)Relations",
                ["return \(relation.type)Relations(self._then(\(SafeText.python(relation.name))))"])
        }
        return ["class \(record.type)Relations(Relation):", "    \"\"\"The records that can come along.\"\"\""] + paths
            + [""]
    }

    // MARK: Writing

    private var new: [String]? {
        record.create.map { fields in
            let required = fields.filter(\.isRequired)
            let others = fields.filter { !$0.isRequired }
            let name = "\(record.type)New"
            guard !required.isEmpty else { return dictionary(name, "What a new record has.", others) }
            return dictionary("_\(name)", "What a new record must have.", required, isTotal: true) + ["", ""]
                + dictionary(name, "What a new record has.", others, base: "_\(name)")
        }
    }

    private var changes: [String]? {
        record.update.map {
            dictionary("\(record.type)Changes", "The fields that can be changed; None sets one to null.", $0)
        }
    }

    /// A type of dictionary. Names that are no names of Python need another way to write it.
    private func dictionary(
        _ name: String, _ text: String, _ fields: [FieldOutline], isTotal: Bool = false, base: String? = nil
    ) -> [String] {
        let isPlain = fields.allSatisfy { PythonNames.isPlain($0.name) }
        let types = fields.map { field in
            let type = field.isRequired ? Self.type(of: field) : "Optional[\(Self.type(of: field))]"
            return isPlain ? "    \(field.name): \(type)" : "        \(SafeText.python(field.name)): \(type),"
        }
        let total = isTotal ? "" : ", total=False"
        if isPlain {
            return ["class \(name)(\(base ?? "TypedDict")\(total)):", "    \"\"\"\(text)\"\"\""]
                + (types.isEmpty ? [] : [""] + types) + [""]
        }
        let own = base == nil ? name : "_\(name)Others"
        let dictionary =
            ["\(own) = TypedDict(", "    \"\(own)\",", "    {"] + types + ["    },"]
            + (isTotal ? [] : ["    total=False,"]) + [")", ""]
        guard let base else { return dictionary }
        return dictionary + ["", "class \(name)(\(base), \(own)):", "    \"\"\"\(text)\"\"\"", ""]
    }

    private var records: [String] {
        let (type, id) = (record.type, record.idType)
        let all = [
            (record.create != nil, "CreatableRecords[\(type), \(id), \(type)New]"),
            (record.update != nil, "UpdatableRecords[\(type), \(id), \(type)Changes]"),
            (record.canDelete, "DeletableRecords[\(type), \(id)]"),
            (record.takesContent, "UploadableRecords[\(type), \(id)]"),
            (record.hasContent && !record.takesContent, "ContentRecords[\(type), \(id)]"),
        ]
        let bases = all.filter(\.0).map(\.1)
        let list = bases.isEmpty ? "Records[\(type), \(id)]" : bases.joined(separator: ", ")
        return ["class \(type)Records(\(list)):", "    \"\"\"The records of `\(record.entity)`.\"\"\"", ""]
    }
}

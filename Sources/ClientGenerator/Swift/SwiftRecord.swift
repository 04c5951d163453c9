/// An entity as a Swift type: a property for each field over the record as it came.
struct SwiftRecord {
    let record: RecordOutline

    var lines: [String] {
        let parts =
            [properties] + record.enums.map(lines(of:)) + [fields, relations] + [new, changes].compactMap(\.self)
        return [
            "// MARK: \(record.entity)", "", "/// A record of `\(record.entity)`.",
            "public struct \(record.type): \(protocols.joined(separator: ", ")) {",
            "    /// The name of the entity.", "    public static let entity = \(SafeText.swift(record.entity))",
            "    /// The record as it came, with what the schema does not know.", "    public let record: Record",
            "    /// Wraps a record.", "    public init(_ record: Record) { self.record = record }",
        ] + parts.flatMap { [""] + $0.map { $0.isEmpty ? "" : "    \($0)" } } + ["}"] + filters
    }

    private var protocols: [String] {
        let all = [
            (record.create != nil, "CreatableRecord"), (record.update != nil, "UpdatableRecord"),
            (record.canDelete, "DeletableRecord"), (record.takesContent, "UploadableRecord"),
            (record.hasContent && !record.takesContent, "ContentRecord"),
        ]
        let names = all.filter(\.0).map(\.1)
        return names.isEmpty ? ["TypedRecord"] : names
    }

    // MARK: Reading

    private var properties: [String] {
        let id = ["public var id: RecordID<\(record.type)> { record.id(\(SafeText.swift(record.key))) }"]
        let values = record.shown.filter { !isID($0) }.map { field in
            let place = field.place.map(SafeText.swift).joined(separator: ", ")
            let source = place.isEmpty || field.place == [field.name] ? "" : ", at: \(place)"
            let type = field.isShownRaw ? "JSONValue" : Self.type(of: field)
            return "public var \(name(field)): \(type)? { record.value(\(SafeText.swift(field.name))\(source)) }"
        }
        let related = record.relations.flatMap { relation -> [String] in
            let (name, other) = (SwiftNames.declared(relation.identifier), relation.type)
            return relation.isMany
                ? [
                    "/// Empty unless they were included.",
                    "public var \(name): [\(other)] { record.allRelated(\(SafeText.swift(relation.name))).map(\(other).init) }",
                ]
                : [
                    "/// Nil unless it was included.",
                    "public var \(name): \(other)? { record.related(\(SafeText.swift(relation.name))).map(\(other).init) }",
                ]
        }
        return id + values + related
    }

    private func isID(_ field: FieldOutline) -> Bool { field.identifier == "id" }

    private func name(_ field: FieldOutline) -> String { SwiftNames.declared(field.identifier) }

    private static func type(of field: FieldOutline) -> String {
        switch field.kind {
        case .string: "String"
        case .integer: "Int"
        case .decimal: "Decimal"
        case .boolean: "Bool"
        case .time: "Date"
        case .day: "Day"
        case .object: "JSONObject"
        case .list: "[JSONValue]"
        case .name(let type), .id(let type): type
        }
    }

    private func lines(of list: EnumOutline) -> [String] {
        let names = list.values.map { SwiftNames.declared($0.identifier) }
        let constants = list.values.flatMap { value in
            [
                "    /// \(SafeText.comment(value.label.isEmpty ? value.value : value.label))",
                "    public static let \(SwiftNames.declared(value.identifier)): \(list.type) = \(SafeText.swift(value.value))",
            ]
        }
        return [
            "/// One of a list that grows: an unknown value is kept.",
            "public struct \(list.type): OpenName, FieldValue {",
            "    /// The value as it is sent.", "    public let rawValue: String", "    /// Any value.",
            "    public init(rawValue: String) { self.rawValue = rawValue }",
        ] + constants + [
            "    /// The values that the schema has.",
            "    public static let known: [\(list.type)] = [\(names.joined(separator: ", "))]", "}",
        ]
    }

    // MARK: Queries

    private var fields: [String] {
        let properties = record.listed.map { field in
            let name = SafeText.swift(field.name)
            return switch field.kind {
            case .object: "    public var \(self.name(field)): ObjectField { scope.object(\(name)) }"
            case .list: "    public var \(self.name(field)): ListField { scope.list(\(name)) }"
            default: "    public var \(self.name(field)): \(Self.listed(field)) { scope.\(Self.maker(field))(\(name)) }"
            }
        }
        return [
            "/// What lists filter and sort by.", "public struct Fields: RecordFields {",
            "    let scope: FieldScope", "    /// The fields in this place.",
            "    public init(_ scope: FieldScope) { self.scope = scope }",
        ] + properties + ["}"]
    }

    private static func listed(_ field: FieldOutline) -> String {
        let kind = field.isSealed ? "SealedField" : field.isText ? "TextField" : "ValueField"
        return "\(kind)<\(type(of: field))>"
    }

    private static func maker(_ field: FieldOutline) -> String {
        field.isSealed ? "sealed" : field.isText ? "text" : "value"
    }

    private var relations: [String] {
        let paths = record.relations.map { relation in
            "    public var \(SwiftNames.declared(relation.identifier)): \(relation.type).Relations "
                + "{ \(relation.type).Relations(path.then(\(SafeText.swift(relation.name)))) }"
        }
        return [
            "/// The records that can come along.", "public struct Relations: RecordRelations {",
            "    /// The way to these records.", "    public let path: RelationPath",
            "    /// The relations behind this path.",
            "    public init(_ path: RelationPath) { self.path = path }",
        ] + paths + ["}"]
    }

    private var filters: [String] {
        let relations = record.relations.filter(\.isFiltered)
        guard !relations.isEmpty else { return [] }
        let properties = relations.map { relation in
            "    public var \(SwiftNames.declared(relation.identifier)): \(relation.type).Fields "
                + "{ related(\(SafeText.swift(relation.name))) }"
        }
        return ["", "extension Filters<\(record.type).Fields> {"] + properties + ["}"]
    }

    // MARK: Writing

    private var new: [String]? {
        record.create.map { fields in
            let required = fields.filter(\.isRequired)
            let parameters = required.map { "\(name($0)): \(Self.type(of: $0))" }.joined(separator: ", ")
            let assignments = required.map { "        fields.set(\(SafeText.swift($0.name)), to: \(name($0)))" }
            let empty = "    public init(\(parameters)) {"
            return [
                "/// What a new record has.", "public struct New: RecordFieldsToWrite {",
                "    /// The fields as they are sent.", "    public var fields: JSONObject = [:]",
                "    /// With what it must have.",
            ] + (assignments.isEmpty ? ["\(empty)}"] : [empty] + assignments + ["    }"])
                + fields.map(accessor(of:)) + ["}"]
        }
    }

    private var changes: [String]? {
        record.update.map { fields in
            [
                "/// The fields that can be changed.", "public struct Changes: EmptyFieldsToWrite {",
                "    /// The fields as they are sent.", "    public var fields: JSONObject = [:]",
                "    /// No field.", "    public init() {}",
            ] + fields.map(accessor(of:)) + ["}"]
        }
    }

    private func accessor(of field: FieldOutline) -> String {
        let key = SafeText.swift(field.name)
        return "    public var \(name(field)): \(Self.type(of: field))? "
            + "{ get { fields.value(\(key)) } set { fields.set(\(key), to: newValue) } }"
    }
}

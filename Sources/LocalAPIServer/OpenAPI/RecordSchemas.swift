internal import EntitySchema
internal import JSONText

/// The component schemas of one entity's records, with an example.
///
/// They describe what the schema expects. Records that differ are served all the same, so every field may have any value,
/// and only the members that the API adds are required.
struct RecordSchemas {
    let schema: EntitySchema
    let entity: Entity

    var all: [(key: String, value: JSONText)] {
        var schemas = [(Self.record(entity), record), (Self.list(entity), list)]
        if entity.operations.contains(.create) {
            schemas.append((Self.new(entity), new()))
            // A save has its key in the path.
            let given = foreignKeys + (entity.operations.contains(.update) ? [entity.key] : [])
            schemas += Set(given).sorted().map { (Self.new(entity, without: $0), new(without: $0)) }
        }
        if entity.operations.contains(.update) { schemas.append((Self.changes(entity), changes)) }
        return schemas.map { (key: $0.0, value: $0.1) }
    }

    /// The names of the component schemas.
    static func record(_ entity: Entity) -> String { "\(entity.name).record" }
    static func list(_ entity: Entity) -> String { "\(entity.name).list" }
    static func new(_ entity: Entity) -> String { "\(entity.name).new" }
    static func new(_ entity: Entity, without field: String) -> String { "\(entity.name).new.without_\(field)" }
    static func changes(_ entity: Entity) -> String { "\(entity.name).changes" }

    private var shown: [Field] { entity.fields.filter { !$0.secret } }

    private var record: JSONText {
        let ours: [(key: String, value: JSONText)] = [
            ("_sync", OpenAPICall.reference("schemas", "Sync")),
            ("_labels", .object(["type": "object", "additionalProperties": .object(["type": "string"])])),
            ("_include", .object(["type": "object"])),
            ("_server", .object(["type": .array(["object", "null"])])),
        ]
        return .object([
            "type": "object", "required": .array([.string(entity.key), "_sync"]),
            "properties": .object(
                members: shown.map { (key: $0.name, value: Self.shown($0)) } + ours),
            "additionalProperties": true, "examples": .array([example]),
        ])
    }

    private var list: JSONText {
        let reference = OpenAPICall.reference("schemas", Self.record(entity))
        return .object([
            "type": "object", "required": .array(["data", "next"]),
            "properties": .object([
                "data": .object(["type": "array", "items": reference]),
                "next": .object(["type": .array(["string", "null"])]), "total": .object(["type": "integer"]),
                "complete": .object(["type": "boolean", "description": "false until the first load has ended"]),
            ]),
        ])
    }

    /// The body of a creation; `field` is left out if the path provides it.
    private func new(without field: String? = nil) -> JSONText {
        let fields = entity.writable(by: .create).filter { $0.name != field }
        let required = fields.filter { $0.required && $0.name != entity.key }.map { JSONText.string($0.name) }
        let schema = body(of: fields)
        return required.isEmpty ? schema : schema.setting("required", to: .array(required))
    }

    private var changes: JSONText { body(of: entity.writable(by: .update)) }

    /// The fields by which new records belong to others, each once.
    private var foreignKeys: [String] {
        let relations = schema.entities.flatMap(\.relations).filter { $0.entity == entity.name }
        let fields = Set(relations.compactMap { if case .many(let field, _) = $0.kind { field } else { nil } })
        return fields.sorted()
    }

    private func body(of fields: [Field]) -> JSONText {
        .object([
            "type": "object",
            "properties": .object(members: fields.map { (key: $0.name, value: sent($0)) }),
            "additionalProperties": false,
        ])
    }

    private func sent(_ field: Field) -> JSONText {
        guard field.name == entity.key else {
            let described = Self.described(field, isNullable: !field.required)
            return field.isNeverEmpty ? described.setting("minLength", to: 1) : described
        }
        let lengths = JSONText.object(["minLength": 1, "maxLength": .integer(Entity.longestKey)])
        return Self.described(field, isNullable: false).setting(lengths)
    }

    // MARK: Fields

    private static func shown(_ field: Field) -> JSONText {
        let expected = described(field, isNullable: true).opened.expected
        return field.isDerivedHere ? expected.setting("readOnly", to: true) : expected
    }

    private static func described(_ field: Field, isNullable: Bool) -> JSONText {
        func typed(_ types: [JSONText]) -> JSONText {
            let all = isNullable ? types + ["null"] : types
            return .object(["type": all.count == 1 ? all[0] : .array(all)])
        }
        switch field.kind {
        case .string: return typed(["string"])
        case .integer: return typed(["integer"]).setting(range)
        case .number, .money: return typed(["number"])
        case .boolean: return typed(["boolean"])
        case .time: return typed(["string"]).setting("format", to: "date-time")
        // A record is shown as it came.
        case .date where field.dayFormat?.isNumber == true: return typed(["string", "integer"])
        case .date where field.dayFormat?.dayPattern != nil: return typed(["string"])
        case .date: return typed(["string"]).setting("format", to: field.dayFormat == nil ? "date" : "date-time")
        case .object: return typed(["object"])
        case .list: return typed(["array"])
        case .reference(let other):
            return typed(["string", "integer"]).setting("minLength", to: 1).setting(range)
                .setting("description", to: .string("the key of a record of \(other)"))
        case .enum(let values):
            let names = values.map { JSONText.string($0.value) }
            return .object(["enum": .array(isNullable ? names + [.null] : names)])
        }
    }

    private static let range = JSONText.object(["minimum": .integer(.min), "maximum": .integer(.max)])

    private var example: JSONText {
        let sync = JSONText.object([
            "state": "synced", "pending_fields": .array([]), "synced_at": "2026-11-21T10:42:00.000Z", "error": .null,
        ])
        return .object(members: shown.map { (key: $0.name, value: example(of: $0)) } + [(key: "_sync", value: sync)])
    }

    private func example(of field: Field) -> JSONText {
        if field.name == entity.key { return key(of: entity, "5f0c3a", 1486) }
        switch field.kind {
        case .string: return .string(field.name)
        case .integer: return 1
        case .number, .money: return .decimal(12_990, places: 2)
        case .boolean: return true
        case .time: return "2026-11-21T10:42:00.000Z"
        case .date: return "2026-11-21"
        case .object: return .object([:])
        case .list: return .array([])
        case .reference(let other): return schema[other].map { key(of: $0, "8d21b4", 231) } ?? .null
        case .enum(let values): return .string(values.first?.value ?? "")
        }
    }

    /// A sample key of a record of this entity: a text or a number, as its key is.
    private func key(of entity: Entity, _ text: String, _ number: Int) -> JSONText {
        var entity = entity
        // A key may be that of a record of another entity, whose key may be so too.
        for _ in schema.entities {
            guard case .reference(let other)? = entity[field: entity.key]?.kind, let target = schema[other] else {
                break
            }
            entity = target
        }
        if entity[field: entity.key]?.kind == .integer { return .integer(number) }
        return .string(entity.madeKey(from: text))
    }
}

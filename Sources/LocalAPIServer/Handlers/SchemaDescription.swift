internal import EntitySchema
internal import JSONText

/// A schema as callers need it to show records and to build forms, in the words and the order of the schema file.
///
/// It says what records have and which writes are accepted, and nothing about the upstream.
enum SchemaDescription {
    static func json(of schema: EntitySchema) -> JSONText {
        .object([
            "name": .string(schema.name), "title": .string(schema.title),
            "entities": .array(schema.entities.map { json(of: $0) }),
        ])
    }

    static func json(of entity: Entity) -> JSONText {
        let sort = entity.sort.map(\.text).joined(separator: ",")
        return .object([
            "name": .string(entity.name), "local": .boolean(entity.isLocal), "key": .string(entity.key),
            "title": .string(entity.titles.first?.source ?? "{\(entity.key)}"),
            "title_else": .string(entity.titles.dropFirst().first?.source),
            "sort": sort.isEmpty ? .null : .string(sort),
            "create": writable(.create, entity), "update": writable(.update, entity),
            "delete": .boolean(entity.operations.contains(.delete)),
            "content": entity.content.map { json(of: $0, entity) } ?? .null,
            "fields": .array(entity.fields.map { json(of: $0) }),
            "relations": .array(entity.relations.map { json(of: $0) }),
        ])
    }

    /// The names of the fields that the operation accepts; null if there is no such operation.
    private static func writable(_ operation: Operation, _ entity: Entity) -> JSONText {
        guard entity.operations.contains(operation) else { return .null }
        return .array(entity.writable(by: operation).map { .string($0.name) })
    }

    private static func json(of content: ContentPlan, _ entity: Entity) -> JSONText {
        .object([
            "upload": .boolean(content.upload != nil), "create": .boolean(entity.isCreatedWithContent),
            "delete": .boolean(content.delete != nil),
            "types": .array(content.types.map { .string($0) }), "max_size": .integer(content.maximumSize),
            "state": .string(content.state),
        ])
    }

    private static func json(of field: Field) -> JSONText {
        var (values, target) = (JSONText.null, JSONText.null)
        switch field.kind {
        case .enum(let all):
            values = .array(
                all.map { one in
                    .object(["value": .string(one.value), "label": .string(one.label), "icon": .string(one.icon)])
                })
        case .reference(let entity): target = .string(entity)
        default: break
        }
        return .object([
            "name": .string(field.name), "type": .string(field.kind.word), "values": values, "to": target,
            "from": .string(field.source), "required": .boolean(field.required), "index": .boolean(field.indexed),
            "natural": .boolean(field.isNatural),
            "search": .string(field.search?.rawValue), "secret": .boolean(field.secret),
            "sealed": .boolean(field.sealed),
            "computed": .boolean(field.isDerivedHere), "default": initial(of: field),
        ])
    }

    /// Null also for one that is not known before the record is created.
    private static func initial(of field: Field) -> JSONText {
        guard case .value(let value) = field.initial?.value else { return .null }
        return value
    }

    private static func json(of relation: Relation) -> JSONText {
        let (isMany, field) =
            switch relation.kind {
            case .one(let field): (false, field)
            case .many(let field, _): (true, field)
            }
        return .object([
            "name": .string(relation.name), "many": .boolean(isMany), "entity": .string(relation.entity),
            "by": .string(field),
        ])
    }
}

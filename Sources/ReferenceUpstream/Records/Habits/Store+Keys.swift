internal import EntitySchema
internal import JSONText

/// Keys that the server chooses: integers of three sizes, and slugs.
extension Store {
    /// A new key in the server's style; nil when callers may choose keys.
    mutating func newIdentity(for entity: Entity, of fields: JSONText) -> JSONText? {
        guard let style = habits.keyStyle, hasOwnKeys(entity) else { return nil }
        note(style)
        state.lastNumber += 1
        return identity(state.lastNumber, style, slug(of: fields, entity))
    }

    /// False if the key of each record is that of another one, which exists already.
    func hasOwnKeys(_ entity: Entity) -> Bool { entity[field: entity.key]?.isReference != true }

    private func identity(_ number: Int, _ style: Habit, _ slug: String) -> JSONText {
        let first: UInt64 =
            switch style {
            case .largeIDs: 1 << 53
            case .hugeIDs: 1 << 63
            default: 1000
            }
        guard style != .slugs else { return .string("\(slug)-\(number)") }
        return (try? JSONText(parsing: "\(first + UInt64(number))")) ?? .null
    }

    /// The key of a changed record; nil when it keeps its own.
    func nextSlug(of record: JSONText, _ entity: Entity, key: String) -> JSONText? {
        guard habits[.slugs], hasOwnKeys(entity), let dash = key.lastIndex(of: "-") else { return nil }
        let next = slug(of: record, entity) + key[dash...]
        return next == key ? nil : .string(next)
    }

    private func slug(of record: JSONText, _ entity: Entity) -> String {
        let named = entity.titles.flatMap(\.placeholders) + entity.fields.map(\.name)
        let field = named.first { entity[field: $0]?.kind == .string && $0 != entity.key }
        let title = field.flatMap { entity.value(of: $0, in: record)?.string } ?? ""
        let words = title.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        return words.isEmpty ? "untitled" : String(words.joined(separator: "-").prefix(40))
    }

    // MARK: References

    /// The fields of an entity that hold keys of another.
    static func references(of entity: Entity, to other: String) -> [Field] {
        entity.fields.filter { $0.kind == .reference(to: other) }
    }

    /// A copy with the references to renamed records changed; `keys` by entity, from the old plain text.
    static func renaming(_ record: JSONText, _ entity: Entity, _ keys: [String: [String: JSONText]]) -> JSONText {
        entity.fields.reduce(record) { record, field in
            guard case .reference(let other) = field.kind, let old = entity.value(of: field.name, in: record),
                let new = keys[other]?[old.plain]
            else { return record }
            guard record[field.name] == nil, let source = field.source else {
                return record.setting(field.name, to: new)
            }
            return record.setting(source.split(separator: ".")[...], to: new)
        }
    }
}

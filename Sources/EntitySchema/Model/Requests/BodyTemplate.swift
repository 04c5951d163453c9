package import JSONText

/// A JSON body around what a change sends: `{ data: { type: orders, attributes: $fields } }`, or beside it:
/// `{ <<: $fields, version: "{version}" }`.
package indirect enum BodyTemplate: Sendable, Equatable {
    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: BodyTemplate

        /// What a change sends stands beside the other members, which count where both have one of a name.
        var isSpread: Bool { name == BatchTemplate.spread && value == .fields }
    }

    /// `$fields` or `$record`: what the change sends, as one object.
    case fields
    /// `{name}`: the value of a field of the record, with its type.
    case value(String)
    /// `{$key}`: the change's idempotency key.
    case key
    case constant(JSONText)
    case object([Member])
    case list([BodyTemplate])

    /// The same with the values of fields; null for those that there are not.
    func filled(_ value: (String) -> JSONText?) -> BodyTemplate {
        switch self {
        case .fields, .key, .constant: self
        case .value(let name): .constant(value(name) ?? .null)
        case .object(let members): .object(members.map { Member(name: $0.name, value: $0.value.filled(value)) })
        case .list(let elements): .list(elements.map { $0.filled(value) })
        }
    }

    /// The body with these fields and this key in their places. Values that were not filled in are null.
    package func enclosing(_ fields: JSONText, key: JSONText = .null) -> JSONText {
        switch self {
        case .fields: fields
        case .value: .null
        case .key: key
        case .constant(let json): json
        case .object(let members): .object(members: Self.enclosing(fields, key, members))
        case .list(let elements): .array(elements.map { $0.enclosing(fields, key: key) })
        }
    }

    private static func enclosing(
        _ fields: JSONText, _ key: JSONText, _ members: [Member]
    ) -> [(key: String, value: JSONText)] {
        members.flatMap { member in
            member.isSpread ? beside(members, fields) : [(member.name, member.value.enclosing(fields, key: key))]
        }
    }

    /// The members that are not the form's own.
    private static func beside(_ members: [Member], _ body: JSONText) -> [(key: String, value: JSONText)] {
        let own = Set(members.filter { !$0.isSpread }.map(\.name))
        return body.members.filter { !own.contains($0.key) }
    }

    /// The fields of the record that it has values of.
    var names: [String] {
        switch self {
        case .fields, .key, .constant: []
        case .value(let name): [name]
        case .object(let members): members.flatMap(\.value.names)
        case .list(let elements): elements.flatMap(\.names)
        }
    }

    /// Whether it has the change's idempotency key.
    package var namesKey: Bool {
        switch self {
        case .key: true
        case .fields, .value, .constant: false
        case .object(let members): members.contains { $0.value.namesKey }
        case .list(let elements): elements.contains(where: \.namesKey)
        }
    }

    /// Whether it has `$fields` or `$record`, not only values of the record.
    package var hasFields: Bool { fieldsCount > 0 }

    /// How often it has `$fields` or `$record`.
    var fieldsCount: Int {
        switch self {
        case .fields: 1
        case .value, .key, .constant: 0
        case .object(let members): members.reduce(0) { $0 + $1.value.fieldsCount }
        case .list(let elements): elements.reduce(0) { $0 + $1.fieldsCount }
        }
    }

    /// The fields inside a body of this form; nil if it is another.
    package func fields(in body: JSONText) -> JSONText? {
        switch self {
        case .fields: return body.kind == .object ? .some(body) : nil
        case .value, .key, .constant: return nil
        case .object(let members):
            guard let place = members.first(where: \.value.hasFields) else { return nil }
            guard !place.isSpread else {
                return body.kind == .object ? .some(.object(members: Self.beside(members, body))) : .none
            }
            return body[place.name].flatMap(place.value.fields)
        case .list(let elements):
            let given = body.elements
            guard given.count == elements.count else { return nil }
            return zip(elements, given).first { $0.0.hasFields }.flatMap { $0.0.fields(in: $0.1) }
        }
    }
}

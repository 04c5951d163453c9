package import JSONText

/// Where the fields of a change stand in what is sent, and under which names:
/// `{ "Order Number": number, billing: { city: city }, clients: [client_id] }`.
package indirect enum FieldPlaces: Sendable, Equatable {
    package struct Member: Sendable, Equatable {
        package var name: String
        package var places: FieldPlaces
    }

    case field(String)
    /// A list of this one value; without an element if the value is null.
    case list(FieldPlaces)
    case object([Member])

    /// The fields, in the order of the schema.
    package var fields: [String] {
        switch self {
        case .field(let name): [name]
        case .list(let places): places.fields
        case .object(let members): members.flatMap(\.places.fields)
        }
    }

    /// The names on the outside.
    package var names: Set<String> {
        if case .object(let members) = self { Set(members.map(\.name)) } else { [] }
    }

    /// Wire name → field, if nothing is nested.
    package var flat: [String: String]? {
        guard case .object(let members) = self else { return nil }
        var names: [String: String] = [:]
        for member in members {
            guard case .field(let field) = member.places else { return nil }
            names[member.name] = field
        }
        return names
    }

    /// What is sent of the fields that have a value; nil if none has.
    func filled(_ value: (String) -> JSONText?) -> JSONText? {
        switch self {
        case .field(let name): return value(name)
        case .list(let places):
            return places.filled(value).map { JSONText.array($0.kind == .null ? [] : [$0]) }
        case .object(let members):
            let sent = members.compactMap { member in
                member.places.filled(value).map { (key: member.name, value: $0) }
            }
            return sent.isEmpty ? .none : JSONText.object(members: sent)
        }
    }

    /// The values of fields in what was sent.
    package func values(in body: JSONText) -> [(key: String, value: JSONText)] {
        switch self {
        case .field(let name): [(name, body)]
        case .list(let places): places.values(in: body.elements.first ?? .null)
        case .object(let members):
            members.flatMap { member in body[member.name].map(member.places.values) ?? [] }
        }
    }
}

package import JSONText

/// Where the fields of a change stand in what is sent, and under which names:
/// `{ "Order Number": number, billing: { city: city }, clients: [client_id] }`.
package indirect enum FieldPlaces: Sendable, Equatable {
    package struct Member: Sendable, Equatable {
        package var name: String
        package var places: FieldPlaces
    }

    case field(String)
    /// Sent as it is, beside fields that are sent.
    case constant(JSONText)
    /// A list of this one value; without an element if all fields in it are null.
    case list(FieldPlaces)
    /// Null in place of all this if all fields in it are null.
    case orNull(FieldPlaces)
    case object([Member])

    /// The fields, in the order of the schema.
    package var fields: [String] {
        switch self {
        case .field(let name): [name]
        case .constant: []
        case .list(let places), .orNull(let places): places.fields
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
        case .constant(let json): return json
        case .list(let places):
            return places.filled(value).map { JSONText.array(places.isEmpty(value) ? [] : [$0]) }
        case .orNull(let places):
            return places.filled(value).map { places.isEmpty(value) ? .null : $0 }
        case .object(let members):
            let sent = members.compactMap { member in
                member.places.filled(value).map { (key: member.name, value: $0) }
            }
            // Constants alone say nothing, unless they are all that there is.
            let isSent = fields.isEmpty ? !sent.isEmpty : fields.contains { value($0) != nil }
            return isSent ? JSONText.object(members: sent) : .none
        }
    }

    /// Whether it has fields, and all that are sent are null.
    private func isEmpty(_ value: (String) -> JSONText?) -> Bool {
        !fields.isEmpty && fields.allSatisfy { value($0).map { $0.kind == .null } ?? true }
    }

    /// The values of fields in what was sent.
    package func values(in body: JSONText) -> [(key: String, value: JSONText)] {
        switch self {
        case .field(let name): [(name, body)]
        case .constant: []
        case .list(let places): places.values(in: body.elements.first ?? .null)
        case .orNull(let places): places.values(in: body)
        case .object where body.kind == .null: fields.map { ($0, .null) }
        case .object(let members):
            members.flatMap { member in body[member.name].map(member.places.values) ?? [] }
        }
    }
}

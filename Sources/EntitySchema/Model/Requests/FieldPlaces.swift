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
    /// One element of the list in this field.
    case element(String)
    /// A list of this one value; without an element if all fields in it are null. With `element` inside, a list of this
    /// for each of them.
    case list(FieldPlaces)
    /// A constant, null or `""`, in place of all this if all fields in it are null.
    case orElse(JSONText, FieldPlaces)
    case object([Member])

    /// The fields, in the order of the schema.
    package var fields: [String] {
        switch self {
        case .field(let name), .element(let name): [name]
        case .constant: []
        case .list(let places), .orElse(_, let places): places.fields
        case .object(let members): members.flatMap(\.places.fields)
        }
    }

    /// The fields of which each element has a place.
    var repeated: [String] {
        switch self {
        case .element(let name): [name]
        case .field, .constant: []
        case .list(let places), .orElse(_, let places): places.repeated
        case .object(let members): members.flatMap(\.places.repeated)
        }
    }

    /// The field whose elements stand here, outside of any list; nil if there is none.
    var element: String? {
        switch self {
        case .element(let name): name
        case .field, .constant, .list: nil
        case .orElse(_, let places): places.element
        case .object(let members): members.lazy.compactMap(\.places.element).first
        }
    }

    /// The names on the outside.
    package var names: Set<String> { if case .object(let members) = self { Set(members.map(\.name)) } else { [] } }

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
        case .field(let name), .element(let name): return value(name)
        case .constant(let json): return json
        case .list(let places):
            guard let field = places.element else {
                return places.filled(value).map { JSONText.array(places.isEmpty(value) ? [] : [$0]) }
            }
            return value(field).map { list in
                JSONText.array(list.elements.compactMap { element in places.filled { _ in element } })
            }
        case .orElse(let nothing, let places):
            return places.filled(value).map { places.isEmpty(value) ? nothing : $0 }
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
        case .field(let name), .element(let name): [(name, body)]
        case .constant: []
        case .list(let places): places.listed(in: body)
        case .orElse(let nothing, let places): places.values(in: body == nothing ? .null : body)
        case .object where body.kind == .null: fields.map { ($0, .null) }
        case .object(let members):
            members.flatMap { member in body[member.name].map(member.places.values) ?? [] }
        }
    }

    private func listed(in body: JSONText) -> [(key: String, value: JSONText)] {
        guard let element else { return values(in: body.elements.first ?? .null) }
        let elements = body.elements.flatMap { values(in: $0).map(\.value) }
        return [(element, body.kind == .array ? JSONText.array(elements) : .null)]
    }
}

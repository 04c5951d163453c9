package import JSONText

/// The body of a batch, or one element of it: `{ method: "{$method}", url: "{$path}", body: $body }`.
package indirect enum BatchTemplate: Sendable, Equatable {
    /// What stands for more than one value.
    package enum Slot: String, Sendable, Hashable, CaseIterable {
        /// The list of elements.
        case changes = "$changes"
        /// The body that the change would have as a request of its own.
        case body = "$body"
        /// The fields that the change sends, without what its route has around them.
        case fields = "$fields"
    }

    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: BatchTemplate

        /// The members of the value stand here, instead of the value itself, as with YAML's own merge key.
        var isSpread: Bool { name == BatchTemplate.spread }
    }

    case slot(Slot)
    case text(ValueTemplate)
    case constant(JSONText)
    case object([Member])
    case list([BatchTemplate])

    package static let spread = "<<"

    /// The names in its texts.
    package var names: [ValueTemplate.Name] {
        switch self {
        case .slot, .constant: []
        case .text(let template): template.placeholders.map(\.name)
        case .object(let members): members.flatMap(\.value.names)
        case .list(let elements): elements.flatMap(\.names)
        }
    }

    package var slots: [Slot] {
        switch self {
        case .slot(let slot): [slot]
        case .text, .constant: []
        case .object(let members): members.flatMap(\.value.slots)
        case .list(let elements): elements.flatMap(\.slots)
        }
    }

    /// With every value; a member whose value is not known is left out. Nil if that is the value of all of it.
    func filled(_ slot: (Slot) -> JSONText?, _ value: (ValueTemplate.Name) -> JSONText?) -> JSONText? {
        switch self {
        case .slot(let name): return slot(name)
        case .text(let template): return template.json(value)
        case .constant(let json): return json
        case .list(let elements): return .array(elements.compactMap { $0.filled(slot, value) })
        case .object(let members):
            return .object(
                members: members.flatMap { member -> [(key: String, value: JSONText)] in
                    guard let json = member.value.filled(slot, value) else { return [] }
                    return member.isSpread ? json.members : [(member.name, json)]
                })
        }
    }
}

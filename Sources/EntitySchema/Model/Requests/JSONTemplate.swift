package import JSONText

/// A JSON value whose texts may name values: the body of a list that is asked for by POST.
package indirect enum JSONTemplate: Sendable, Equatable {
    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: JSONTemplate
    }

    case constant(JSONText)
    case text(ValueTemplate)
    case object([Member])
    case list([JSONTemplate])

    /// The value with all that it names. A member or element that names something without a value is left out; nil if
    /// the whole does.
    package func filled(_ value: (ValueTemplate.Name) -> JSONText?) -> JSONText? {
        switch self {
        case .constant(let json): return json
        case .text(let template): return template.json(value)
        case .object(let members):
            return .object(
                members: members.compactMap { member in member.value.filled(value).map { (member.name, $0) } })
        case .list(let elements): return .array(elements.compactMap { $0.filled(value) })
        }
    }

    /// Every placeholder in it.
    package var placeholders: [ValueTemplate.Placeholder] { templates.flatMap(\.placeholders) }

    /// Every text in it that may name values.
    var templates: [ValueTemplate] {
        switch self {
        case .constant: []
        case .text(let template): [template]
        case .object(let members): members.flatMap(\.value.templates)
        case .list(let elements): elements.flatMap(\.templates)
        }
    }

    /// The same with this format where `value` is named without one.
    func formatting(_ value: String, as format: TimeFormat) -> JSONTemplate {
        switch self {
        case .constant: self
        case .text(let template): .text(template.formatting(value, as: format))
        case .object(let members):
            .object(members.map { Member(name: $0.name, value: $0.value.formatting(value, as: format)) })
        case .list(let elements): .list(elements.map { $0.formatting(value, as: format) })
        }
    }
}

internal import JSONText
internal import SocketServer

/// An `application/x-www-form-urlencoded` body with nested names, as PHP and Rails read it: `order[tags][]=a`.
struct URLForm {
    private indirect enum Value {
        case text(String)
        case members([(key: String, value: Value)])
        case elements([Value])

        var json: JSONText {
            switch self {
            case .text(let text): .string(text)
            case .members(let members): .object(members: members.map { ($0.key, $0.value.json) })
            case .elements(let elements): .array(elements.map(\.json))
            }
        }
    }

    private let pairs: [(name: String, value: String)]

    /// Throws for what is not UTF-8 with `%XX`.
    init(_ body: [UInt8]) throws(Refusal) {
        guard let text = String(validating: body, as: UTF8.self), let pairs = PercentCoding.parameters(text) else {
            throw .malformed("the form is not UTF-8 with %XX")
        }
        self.pairs = pairs
    }

    func members() throws(Refusal) -> JSONText {
        var root = Value.members([])
        for (name, text) in pairs {
            let steps = name.split(separator: "[", omittingEmptySubsequences: false).map { step in
                step.last == "]" ? String(step.dropLast()) : String(step)
            }
            root = Self.setting(steps[...], of: root, to: text)
        }
        return root.json
    }

    private static func setting(_ steps: ArraySlice<String>, of value: Value?, to text: String) -> Value {
        guard let step = steps.first else { return .text(text) }
        guard !step.isEmpty else {
            var elements: [Value] = []
            if case .elements(let known)? = value { elements = known }
            // An empty list is sent as one empty element.
            if text.isEmpty, elements.isEmpty, steps.count == 1 { return .elements([]) }
            return .elements(elements + [setting(steps.dropFirst(), of: nil, to: text)])
        }
        var members: [(key: String, value: Value)] = []
        if case .members(let known)? = value { members = known }
        let index = members.firstIndex { $0.key == step }
        let inner = setting(steps.dropFirst(), of: index.map { members[$0].value }, to: text)
        if let index { members[index].value = inner } else { members.append((step, inner)) }
        return .members(members)
    }
}

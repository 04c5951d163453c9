internal import Foundation
internal import JSONText

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

    private var pairs: [(name: String, text: String)] = []

    /// Throws for what is not UTF-8.
    init(_ body: [UInt8]) throws(Refusal) {
        for pair in body.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), let text = Self.decoded(parts.count > 1 ? parts[1] : []) else {
                throw .malformed("the form is not UTF-8 with %XX")
            }
            pairs.append((name, text))
        }
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

    private static func decoded(_ bytes: some Collection<UInt8>) -> String? {
        String(decoding: bytes, as: UTF8.self).replacing("+", with: " ").removingPercentEncoding
    }
}

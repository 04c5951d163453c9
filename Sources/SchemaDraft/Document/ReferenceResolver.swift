internal import EntitySchema

/// Follows `$ref` within one document. What leads elsewhere, nowhere or in a ring is an empty value.
struct ReferenceResolver {
    let root: DocumentValue

    /// More links than this in a row are a ring.
    private static let mostHops = 32

    struct Found {
        var value: DocumentValue
        /// The last name in the reference, such as that of a component; nil without a reference.
        var name: String?
    }

    func resolve(_ value: DocumentValue) -> Found {
        var found = Found(value: value)
        for _ in 0..<Self.mostHops {
            guard let reference = found.value["$ref"]?.text else { return found }
            let steps = Self.steps(of: reference)
            guard reference.hasPrefix("#"), let target = target(steps) else { break }
            // The first name in a chain is what the document's author calls it.
            found = Found(value: target, name: found.name ?? steps.last)
        }
        return Found(value: .object(DocumentObject([])))
    }

    private func target(_ steps: [String]) -> DocumentValue? {
        var value = root
        for step in steps {
            if case .array(let elements) = value {
                guard let index = Int(step), elements.indices.contains(index) else { return nil }
                value = elements[index]
            } else {
                guard let member = value[step] else { return nil }
                value = member
            }
        }
        return value
    }

    /// A JSON pointer in a fragment (RFC 6901, 6).
    static func steps(of reference: String) -> [String] {
        reference.dropFirst().split(separator: "/").map { step in
            let text = Entity.percentDecoded(step)
            return text.replacing("~1", with: "/").replacing("~0", with: "~")
        }
    }
}

internal import JSONText

/// What examples of a value say about it, for where the document says nothing else: documents that were written by hand, or
/// made of recorded calls, often have only these.
enum ExampleShape {
    /// A member of what it returns, so that it never counts against what the document says itself.
    static let mark = "x-observed"
    /// More examples of one value than these say no more.
    private static let most = 4

    /// A schema of objects and lists; nil for other values. A text may have an example as JSON.
    static func schema(of examples: [DocumentValue]) -> DocumentValue? {
        let values = examples.prefix(most).map(json).filter { [.object, .array].contains($0.kind) }
        return values.isEmpty ? nil : ObservedShape(isExample: true).schema(of: values)
    }

    private static func json(_ value: DocumentValue) -> JSONText {
        if let text = value.text, let first = text.first(where: { !$0.isWhitespace }), "{[".contains(first),
            let json = try? JSONText(Array(text.utf8))
        {
            return json
        }
        return value.json
    }
}

extension DocumentValue {
    /// As JSON: what stands without quotes and is no number, boolean or null, such as a time in YAML, is a text.
    fileprivate var json: JSONText {
        switch self {
        case .object(let object): .object(members: object.members.map { (key: $0.name, value: $0.value.json) })
        case .array(let elements): .array(elements.map(\.json))
        case .scalar(let text, let isPlain): isPlain ? Self.literal(text) ?? .string(text) : .string(text)
        }
    }

    private static func literal(_ text: String) -> JSONText? {
        if text.isEmpty { return .null }
        guard let json = try? JSONText(Array(text.utf8)), ![.object, .array, .string].contains(json.kind) else {
            return nil
        }
        return json
    }
}

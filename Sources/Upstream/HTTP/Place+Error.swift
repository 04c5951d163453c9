internal import EntitySchema
internal import JSONText

extension Place {
    /// Whether an answer says an error here. Some answers have a list of errors in any case, which is then empty.
    func saysError(in answer: JSONText) -> Bool { paths.contains { answer.at(path: $0)?.saysError ?? false } }

    /// The objects in an answer that are around what it has here, from the outermost.
    func around(in answer: JSONText) -> [JSONText] {
        let path = paths.first { (answer.at(path: $0)?.kind ?? .null) != .null }
        var objects: [JSONText] = []
        var value = answer
        for step in JSONPath.steps(path ?? "") {
            if value.kind == .object { objects.append(value) }
            guard let inner = value.kind == .array ? value.at(path: String(step)) : value[String(step)] else { break }
            value = inner
        }
        return objects
    }
}

extension JSONText {
    /// Whether the value of a member for errors says one: not if it is null, false, 0 or empty.
    var saysError: Bool {
        switch kind {
        case .null: false
        case .boolean: boolean == true
        case .number: plain != "0"
        case .string: !plain.isEmpty
        case .array: elementCount > 0
        case .object: !members.isEmpty
        }
    }
}

internal import EntitySchema
internal import JSONText

extension Place {
    /// Whether an answer says an error here. Some answers have a list of errors in any case, which is then empty.
    func saysError(in answer: JSONText) -> Bool { paths.contains { answer.at(path: $0)?.saysError ?? false } }
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

internal import EntitySchema
internal import JSONText

/// What an error says of a request, and what it may repeat of the answer.
extension WireRequest {
    /// The call that was made, as messages show it: `PATCH /orders/7`, or `PATCH /orders/7 in POST /batch`.
    var shownCall: String { "\(method) \(path.shownPath)" + (batchCall.map { " in \($0)" } ?? "") }

    /// The texts in an answer that nothing may repeat.
    func secrets(in answer: JSONText?) -> [String] { answer.map { SecretTexts(of: secretMembers, in: $0).texts } ?? [] }

    /// Whether an error may quote the answer as it came. Secrets cannot be found in an answer that is not JSON, nor be
    /// looked for if there are too many.
    func mayQuote(_ answer: JSONText?) -> Bool {
        guard mayQuoteAnswer, !secretMembers.isEmpty else { return mayQuoteAnswer }
        return answer.map { SecretTexts(of: secretMembers, in: $0).areAll } ?? false
    }
}

extension String {
    /// A request's path as messages show it: without its query, and cut, since a field's value in it may be long.
    var shownPath: String { String(prefix { $0 != "?" }).cut(toScalars: 300) }
}

/// The texts of all members of some names, at any depth.
private struct SecretTexts {
    private(set) var texts: [String] = []
    /// False if there were more than a message can be searched for.
    private(set) var areAll = true
    private var bytes = 0

    private static let most = 1000
    private static let mostBytes = 64 << 10

    init(of names: Set<String>, in answer: JSONText) {
        if !names.isEmpty { collect(names, answer, isSecret: false) }
    }

    private mutating func collect(_ names: Set<String>, _ value: JSONText, isSecret: Bool) {
        guard areAll else { return }
        switch value.kind {
        case .array:
            for element in value.elements { collect(names, element, isSecret: isSecret) }
        case .object:
            for (name, member) in value.members {
                collect(names, member, isSecret: isSecret || names.contains(name))
            }
        case .string, .number:
            if isSecret { add(value.plain) }
        case .boolean, .null: return
        }
    }

    private mutating func add(_ text: String) {
        guard !text.isEmpty else { return }
        bytes += text.utf8.count
        areAll = texts.count < Self.most && bytes <= Self.mostBytes
        if areAll { texts.append(text) }
    }
}

internal import EntitySchema
internal import JSONText

/// What an error may repeat of the answer to a request.
extension WireRequest {
    /// The texts in an answer that nothing may repeat.
    func secrets(in answer: JSONText?) -> [String] {
        secretMembers.isEmpty ? [] : answer?.texts(of: secretMembers) ?? []
    }

    /// Whether an error may quote the answer as it came. Secrets cannot be found in an answer that is not JSON.
    func mayQuote(_ answer: JSONText?) -> Bool {
        mayQuoteAnswer && (secretMembers.isEmpty || answer != nil)
    }
}

extension JSONText {
    /// The texts of all members of these names, at any depth.
    fileprivate func texts(of names: Set<String>) -> [String] {
        switch kind {
        case .array: elements.flatMap { $0.texts(of: names) }
        case .object:
            members.flatMap { names.contains($0.key) ? $0.value.allTexts : $0.value.texts(of: names) }
        default: []
        }
    }

    private var allTexts: [String] {
        switch kind {
        case .array: elements.flatMap(\.allTexts)
        case .object: members.flatMap(\.value.allTexts)
        case .string, .number: plain.isEmpty ? [] : [plain]
        default: []
        }
    }
}

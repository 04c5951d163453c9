import SchemaDraft

/// Says how to draft the lists of which a document does not say what they answer.
struct ProbeHint {
    let document: OpenAPIDocument
    /// The document, as it was given.
    let from: String?
    let isProbed: Bool
    /// The only lists that are asked for; all if empty.
    let names: [String]

    /// Nil if there are none, or if they were asked.
    var text: String? {
        guard let from, !isProbed else { return nil }
        let count = UnsaidLists(document).found(names: names).count
        guard count > 0 else { return nil }
        let token = document.tokenPlace == nil ? "" : " --token-file FILE"
        let only = names.isEmpty ? "" : " --only \(names.joined(separator: ","))"
        let address = ShellWord.quoted(document.address(source: from))
        return "the document does not say what \(count.counted("list answers", "lists answer")); to see it: "
            + "repairminder-sync init --from \(ShellWord.quoted(from)) --probe \(address)\(token)\(only)"
    }
}

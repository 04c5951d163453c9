/// Tells the tokens that identify records, such as `card_token`, from those that sign someone in.
struct TokenNames {
    /// Some lists have tokens as keys, so that other names that end like these may be keys of their records.
    private var areKeys = false
    /// The names in paths, without what differs between spellings.
    private var inPaths: Set<String> = []

    init() {}

    init(_ document: OpenAPIDocument, _ collections: [Collection]) {
        areKeys = collections.contains { Words.lastWord(of: $0.key.value) == "token" }
        inPaths = Set(document.operations.flatMap(\.path.parameters).map(Words.folded))
    }

    func identify(_ name: String) -> Bool { areKeys || inPaths.contains(Words.folded(name)) }
}

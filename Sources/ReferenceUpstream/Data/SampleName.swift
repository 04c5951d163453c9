/// A field's name, taken apart into its words.
struct SampleName {
    let text: String
    let words: [String]

    init(_ text: String) {
        self.text = text
        words = text.lowercased().split(separator: "_").map(String.init)
    }

    func contains(_ any: String...) -> Bool { any.contains { words.contains($0) } }

    /// Names one or more records that the schema knows nothing of.
    var isKey: Bool { contains("id", "ids") || text.hasSuffix("_by") }

    /// A time that usually lies ahead.
    var isAhead: Bool {
        contains("due", "next", "expires", "expiry", "expiration", "until", "alarm", "scheduled", "deadline")
    }

    /// A time that usually lies before the record.
    var isBehind: Bool { contains("installation", "installed", "purchase", "purchased", "birth") }
}

/// One field of a drafted entity.
struct DraftField: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        /// A word of the schema language: `string`, `time`, `money`, …
        case simple(String)
        case `enum`([DataShape.EnumValue])
        case reference(to: String, as: String?)

        var isReference: Bool { if case .reference = self { true } else { false } }

        /// A value that a text names, as fields of this kind have it; nil if they have none like that.
        func value(_ text: String) -> String? {
            switch self {
            case .enum(let values): values.first { $0.value.lowercased() == text.lowercased() }?.value
            case .simple("boolean"): ["true", "false"].contains(text.lowercased()) ? text.lowercased() : nil
            case .simple("integer"): Int(text) == nil ? nil : text
            case .simple("string"): text
            default: nil
            }
        }
    }

    var name: String
    var kind: Kind
    /// Where the record has it, if not under its own name.
    var from: String?
    /// What the upstream calls it in what it is sent.
    var wireName: String
    var isIndexed = false
    var isSearched = false
    var isRequired = false
    /// The upstream has the number in quotes.
    var isTextOnWire = false
    /// How the upstream writes the time, if not as most do.
    var timeForm: String?
    /// Its texts are times that are not written in ISO 8601.
    var isOtherTime = false
    var isSecret = false
    /// The document says that it is never shown.
    var isWriteOnly = false
    /// It is a list of objects.
    var hasObjects = false
    /// What it has, if it is an object or a list of objects that the document describes.
    var members: Set<String> = []
    var reason: String?

    init(_ name: String, _ kind: Kind, from: String? = nil, wireName: String? = nil, reason: String? = nil) {
        self.name = name
        self.kind = kind
        self.from = from
        self.wireName = wireName ?? name
        self.reason = reason
    }

    /// How many more values than a usual field it has in the file.
    var size: Int {
        if case .enum(let values) = kind { values.count / 3 } else { 0 }
    }

    var isTime: Bool { kind == .simple("time") }
    /// Whether people and paths can use its value as a text.
    var isPlain: Bool {
        switch kind {
        case .simple(let word): ["string", "integer"].contains(word)
        case .enum, .reference: true
        }
    }
}

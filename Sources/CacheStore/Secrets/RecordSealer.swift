internal import EntitySchema
internal import JSONText
internal import SQLiteStore
internal import Secrets

/// Keeps the secrets of one entity's records sealed: all input is sealed before it is stored, and only what has to
/// leave in the clear is opened.
///
/// Takes whole records and parts of them (a change's body, its base) alike. A sealed record has each secret in at most
/// one member of every place, so that SQL finds it there.
struct RecordSealer: Sendable {
    /// The result of opening a record.
    struct Opened {
        /// The record without the secrets that could not be opened.
        var record: JSONText
        /// The fields that could not be opened.
        var unreadable: [String] = []
    }

    let places: [SecretPlace]
    private let sealer: SecretSealer
    /// Whether readers do not see what stands at each place.
    private let hidden: [Bool]
    private let fields: [SecretField]
    private let inRecord: JSONPlaces
    private let inPage: JSONPlaces

    /// `hidden`: the places that readers do not see; all if nil.
    init(_ places: [SecretPlace], hidden: [SecretPlace]? = nil, _ sealer: SecretSealer) {
        self.places = places
        self.hidden = places.map { hidden?.contains($0) ?? true }
        self.sealer = sealer
        fields = places.map { SecretField(entity: $0.entity, field: $0.field) }
        inRecord = JSONPlaces(places.map(\.path))
        inPage = JSONPlaces(places.map { [.elements] + $0.path })
    }

    // MARK: Sealing

    /// Seals the value in every secret's place, whatever it looks like.
    func seal(_ record: JSONText) throws -> JSONText {
        guard !places.isEmpty else { return record }
        return try record.replacing(inRecord) { place, value in try sealer.seal(value, of: fields[place]) }
    }

    /// Seals an array of records.
    func sealed(page: JSONText) throws -> JSONText {
        guard !places.isEmpty else { return page }
        return try page.replacing(inPage) { place, value in
            try sealer.seal(value, of: fields[place])
        }
    }

    // MARK: Opening

    func open(_ record: JSONText) -> Opened {
        guard !places.isEmpty else { return Opened(record: record) }
        var unreadable: [String] = []
        let opened = record.replacing(inRecord) { place, value in
            let clear = sealer.open(value, of: fields[place])
            if clear == nil { unreadable.append(places[place].field) }
            return clear
        }
        return Opened(record: opened, unreadable: unreadable)
    }

    /// Throws `.conflict` when a secret cannot be opened: the record is then unusable.
    func opened(_ record: JSONText) throws(CacheError) -> JSONText {
        let opened = open(record)
        guard let field = opened.unreadable.first else { return opened.record }
        throw .conflict("the secret field \(field) cannot be decrypted: it was sealed with another key, or is damaged")
    }

    /// The plain texts of a record's secret and sealed values, for removing them from what an upstream quotes.
    func texts(in record: JSONText) -> [String] {
        guard !places.isEmpty else { return [] }
        var texts: [String] = []
        _ = record.replacing(inRecord) { place, value -> JSONText? in
            guard let clear = sealer.open(value, of: fields[place]), clear.kind != .null else { return value }
            // True and false would be taken out of every sentence.
            guard hidden[place] || clear.kind != .boolean else { return value }
            texts += [clear.plain, clear.text].filter { !$0.isEmpty }
            return value
        }
        return texts
    }

    /// Whether readers see something that is stored sealed.
    var opens: Bool { hidden.contains(false) }

    /// The record as readers see it: without its secrets, and with its sealed values opened. One that cannot be opened is
    /// left out.
    func shown(_ record: JSONText) -> JSONText { replacing(record, secretsBy: nil) }

    /// A field's value as readers see it; null for a secret field.
    func shown(_ value: JSONText, of field: String) -> JSONText {
        shown(.object(members: [(key: field, value: value)]))[field] ?? .null
    }

    /// `unopened`: what stands for a value that is not sealed with this key.
    private func replacing(
        _ record: JSONText, secretsBy mark: JSONText?, unopened: (JSONText) -> JSONText? = { _ in nil }
    ) -> JSONText {
        guard !places.isEmpty else { return record }
        return record.replacing(inRecord) { place, value -> JSONText? in
            hidden[place] ? mark : sealer.open(value, of: fields[place]) ?? unopened(value)
        }
    }

    /// The record without its secret and sealed values.
    func withoutSealed(_ record: JSONText) -> JSONText {
        guard !places.isEmpty else { return record }
        return record.replacing(inRecord) { (_, _) -> JSONText? in nil }
    }

    /// The fields that have a value in the record.
    func fields(in record: JSONText) -> [String] {
        guard !places.isEmpty else { return [] }
        var found: [String] = []
        _ = record.replacing(inRecord) { place, value -> JSONText? in
            if value.kind != .null { found.append(places[place].field) }
            return value
        }
        return found
    }

    /// The record as readers see it, with `…` for each secret; it may be open already.
    func mask(in record: JSONText) -> JSONText { replacing(record, secretsBy: .some("…")) { $0 } }

    /// A value of a field as it is stored, to look for it.
    func seal(_ value: JSONText, of field: String) throws -> JSONText {
        try seal(.object(members: [(key: field, value: value)]))[field] ?? value
    }

    // MARK: Comparing

    /// Whether two records are equivalent. Sealed values are the same text exactly when the clear ones are.
    func isEquivalent(_ one: JSONText, _ other: JSONText) -> Bool {
        if one.isEquivalent(to: other) { return true }
        guard !places.isEmpty else { return false }
        return lookInside(one).isEquivalent(to: lookInside(other))
    }

    /// Whether two values of a field are equivalent.
    func isEquivalent(_ one: JSONText, _ other: JSONText, of field: String) -> Bool {
        isEquivalent(.object(members: [(key: field, value: one)]), .object(members: [(key: field, value: other)]))
    }

    /// Opens what can be opened and leaves the rest as it is.
    private func lookInside(_ record: JSONText) -> JSONText {
        record.replacing(inRecord) { place, value in sealer.open(value, of: fields[place]) ?? value }
    }
}

/// The record sealers of all entities.
struct RecordSealers: Sendable {
    private let sealers: [String: RecordSealer]
    private let none: RecordSealer
    let sealer: SecretSealer
    /// What is not shown of any record.
    let added = AddedMembers()
    /// By entity.
    let marks: [String: RecordMarks]

    init(_ schema: EntitySchema, _ sealer: SecretSealer) {
        self.sealer = sealer
        none = RecordSealer([], sealer)
        marks = RecordMarks.all(of: schema)
        let secret = schema.entities.filter { !$0.secretPlaces.isEmpty }
        sealers = Dictionary(
            uniqueKeysWithValues: secret.map {
                ($0.name, RecordSealer($0.secretPlaces, hidden: $0.hiddenPlaces, sealer))
            })
    }

    /// For an entity without secrets, a sealer that changes nothing.
    subscript(entity: String) -> RecordSealer { sealers[entity] ?? none }

    private static let answer = SecretField(entity: "sync_answer", field: "answer")

    /// The answer to a repeatable call as it is stored. It shows what callers see, sealed values included.
    func sealedAnswer(_ text: String) throws -> String {
        guard sealers.values.contains(where: \.opens) else { return text }
        return try sealer.seal(.string(text), of: Self.answer).text
    }

    /// Throws `.failed` for one that was sealed with another key. An answer in the clear is an object.
    func openedAnswer(_ stored: String) throws -> String {
        guard let text = try? JSONText(parsing: stored), text.kind == .string else { return stored }
        guard let clear = sealer.open(text, of: Self.answer)?.string else {
            throw CacheError.failed("the stored answer to this Idempotency-Key cannot be decrypted; use another key")
        }
        return clear
    }

    /// See `SecretSealer.fingerprint`.
    func fingerprint(of bytes: [UInt8]) -> String { sealer.fingerprint(of: bytes) }
}

internal import JSONText

/// By which values a new record is found when the answer to its creation was lost.
struct LookUpGuess {
    let shapes: ShapeReader
    let collection: Collection
    let entity: DraftEntity
    /// The path of the list, with fields of a record.
    let listPath: String
    /// That of a creation below a record of another list.
    var creationPath: CreationPath?

    private var item: DataShape { collection.answer.item }
    private var key: String { collection.key.value }

    /// Last words of names whose values differ for most records.
    private static let telling: Set = [
        "name", "title", "number", "no", "email", "reference", "subject", "code", "sku", "phone",
    ]

    /// Nil if nothing that is sent tells two records apart. `needed`: the members that a body must have, also as null.
    /// `isKept`: the upstream keeps the key that the creation sends.
    func lookUp(_ sent: [DraftField], needed: Set<String>, isKept: Bool) -> DraftRoute.LookUp? {
        let path = entity.pull == nil ? listPath : nil
        if isKept { return path == nil && collection.single != nil ? .key : .match([key], path: path) }
        let shown = sent.filter { field in
            // A body may spell the member otherwise than the record.
            entity[field.name].map(isListed) == true && field.isPlain && !field.isSecret && field.name != key
                && (entity[field.name]?.from).map { !$0.contains("*") } ?? true && !Self.isByServer(field)
        }
        let required = shown.filter { entity[$0.name]?.isRequired == true || needed.contains($0.wireName) }
        let telling = shown.filter { Self.telling.contains(Words.lastWord(of: $0.wireName)) }
        let best = [required, telling, shown].first { !$0.isEmpty } ?? []
        guard !best.isEmpty else { return nil }
        var names = best.prefix(3).map(\.name)
        if !best.prefix(3).contains(where: differs) {
            let others = [best, telling, shown].map { $0.filter(differs) }.first { !$0.isEmpty } ?? []
            names += (sent.filter(isNeededAmount) + others).map(\.name).filter { !names.contains($0) }.prefix(2)
        }
        if let above = creationPath.flatMap({ entity[$0.field] }), isListed(above), !names.contains(above.name) {
            names.insert(above.name, at: 0)
        }
        // Two records may be of one type and belong to the same other one; hardly to the same two.
        let references = names.count { entity[$0].map(namesAnother) == true } + (path == nil ? 0 : 1)
        guard references > 1 || names.contains(where: { entity[$0].map(differs) == true }) else { return nil }
        return .match(names, path: path)
    }

    /// Whether the records of the list have it.
    private func isListed(_ field: DraftField) -> Bool {
        item[field.wireName].map { !shapes.shape(of: $0).isWriteOnly } == true
            || field.from.map { shapes.shape(at: JSONPath.steps($0).map(String.init), in: item) != nil } == true
    }

    // MARK: What tells records apart

    /// Last words of names whose values most records share with others.
    private static let shared: Set = [
        "type", "kind", "role", "status", "state", "category", "currency", "country", "color", "colour", "method",
        "mode",
        "level", "language", "locale", "provider", "platform", "priority", "timezone",
    ]

    /// Last words of what a record is called, after which a word before says of what: `payment_method_title`.
    private static let labels: Set = ["name", "title", "code", "label", "slug"]
    /// Last words of texts that most records lack. What a creation does not send is not compared.
    private static let remarks: Set = [
        "note", "notes", "description", "comment", "comments", "remark", "remarks", "memo",
        "message",
    ]

    /// Whether a field may tell two records apart: many refer to the same record, or are in the same state.
    private func differs(_ field: DraftField) -> Bool {
        guard case .simple = field.kind, !namesAnother(field) else { return false }
        let words = Words.parts(of: field.wireName)
        let last = words.last ?? ""
        if Self.remarks.contains(last), entity[field.name]?.isRequired != true { return false }
        let isOfShared = words.dropLast().last.map(Self.shared.contains) == true && Self.labels.contains(last)
        return !Self.shared.contains(last) && (!isOfShared || isOwn(words.dropLast().last ?? ""))
    }

    /// Whether a word is what a record of the list is called: `currency` in currencies.
    private func isOwn(_ word: String) -> Bool { word == Words.lastWord(of: Words.singular(collection.name)) }

    /// Whether a creation always sends a number or a day, which comes back as it was sent.
    private func isNeededAmount(_ field: DraftField) -> Bool {
        guard case .simple(let word) = field.kind, ["money", "number", "date"].contains(word) else { return false }
        return entity[field.name].map { $0.isRequired && isListed($0) } == true
    }

    private static let idWords: Set = ["id", "uuid", "guid", "sid", "uid"]
    /// Before `id`: what a record is called elsewhere, rather than another record.
    private static let ownWords: Set = [
        "external", "ext", "reference", "ref", "tax", "vat", "fiscal", "national", "foreign", "remote", "legacy",
        "custom", "unique", "defined", "correlation", "tracking",
    ]

    /// Whether a field has the key of another record, which may have no list of its own: `order_id`; not `external_id`.
    private func namesAnother(_ field: DraftField) -> Bool {
        if field.kind.isReference { return true }
        let words = Words.parts(of: field.wireName)
        guard let last = words.last, Self.idWords.contains(last), let before = words.dropLast().last else {
            return false
        }
        return !Self.ownWords.contains(before) && !isOwn(before)
    }

    // MARK: What the upstream sets

    private static let deeds: Set = [
        "created", "inserted", "added", "updated", "modified", "changed", "edited", "deleted",
    ]

    /// Whether a field says who did something to the record, `last_updated_by`: most upstreams set that themselves.
    private static func isByServer(_ field: DraftField) -> Bool {
        let words = Words.parts(of: field.wireName)
        guard let by = words.lastIndex(of: "by"), by > 0 else { return false }
        return deeds.contains(words[by - 1])
    }
}

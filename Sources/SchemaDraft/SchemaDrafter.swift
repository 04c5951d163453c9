internal import EntitySchema

/// Drafts a schema from a description of an API: first as guesses, which answers can correct, then as a file.
package struct SchemaDrafter {
    private(set) var model: DraftModel

    /// The name that the schema gets.
    package var name: String { model.name }

    /// `source`: the address or the file that the description came from, or the lists that were
    /// observed.
    package init(_ document: OpenAPIDocument, source: String) {
        let found = CollectionFinder(document: document).find()
        model = DraftModel(
            name: Self.name(document.title), title: String(document.title.prefix(80)),
            origin: Self.origin(document, source, lists: found.collections.count + found.leftOut.count),
            upstream: UpstreamGuess(document: document, collections: found.collections, source: source).upstream(),
            entities: EntityDrafter(document: document, collections: found.collections).entities(),
            leftOut: found.leftOut + Self.posted(document, beside: found.collections))
    }

    /// Lists that are asked for by POST, and whose records no other list has. Beside other lists, only those of records with
    /// a key: the others are mostly reports.
    private static func posted(_ document: OpenAPIDocument, beside collections: [Collection]) -> [LeftOut] {
        document.operations.filter { $0.method == "POST" && $0.verb(among: FindingLists.verbs) != nil }
            .compactMap { call in
                guard let answer = call.answer,
                    case .list(let list) = ListFinder(shapes: document.shapes).find(in: answer, of: call.path)
                else { return nil }
                let record = RecordMatch(item: list.item, shapes: document.shapes)
                let isKnown = collections.contains { record.isRecord($0.answer.item) }
                let hasKey = list.item.properties.contains {
                    KeyGuess.isCertain($0.name) && document.shapes.shape(of: $0).isTextOrNumber
                }
                guard collections.isEmpty || !isKnown && hasKey else { return nil }
                let hint = "write pull.call and pull.body, see docs/schema/pull.md#values-in-requests"
                return LeftOut(
                    path: call.path.text, why: .posted, reason: "its list is asked for by POST: \(hint)")
            }
    }

    /// The draft with all that was found, or only with these entities. What the reader of schemas refuses is left out.
    package func draft(only: [String] = []) throws(SchemaDraftError) -> SchemaDraft {
        var drafter = self
        try drafter.keep(only)
        return try DraftCheck.accepted(drafter.model)
    }

    private static func origin(_ document: OpenAPIDocument, _ source: String, lists: Int) -> String {
        guard !document.isObserved else { return source }
        let answers = document.asked.map { " and the answers of \($0.address)" } ?? ""
        return "\(source) (\(document.version), \(lists) list\(lists == 1 ? "" : "s"))\(answers)"
    }

    /// A schema's name: letters, digits and `-`.
    static func name(_ title: String) -> String {
        let name = Words.parts(of: title).filter { $0 != "api" }.prefix(4).joined(separator: "-")
        return name.isEmpty ? "drafted" : String(name.prefix(40))
    }

    /// Leaves out what is not asked for. A list below another needs that one too.
    package mutating func keep(_ only: [String]) throws(SchemaDraftError) {
        guard !only.isEmpty else { return }
        let known = model.entities.map(\.name)
        for name in only where !known.contains(name) {
            let hint = Suggestion.hint(for: name, among: known, else: ".")
            let all = known.prefix(40).joined(separator: ", ")
            throw .nothing(
                "there is no list \(name)\(hint) " + (all.isEmpty ? "There is none at all" : "There are \(all)"))
        }
        let needed = Set(only + only.compactMap { model[$0]?.below?.parent })
        while let unwanted = model.entities.first(where: { !needed.contains($0.name) }) {
            model.leaveOut(unwanted, .notAsked, "not asked for")
        }
    }

    // MARK: Questions

    /// What a person may know better.
    package var questions: [DraftQuestion] {
        DraftQuestion.all(of: model)
    }

    /// Corrects the draft. An empty answer leaves the guess.
    package mutating func take(_ answer: String, to question: DraftQuestion) throws(SchemaDraftError) {
        guard !answer.isEmpty, answer != question.likely else { return }
        if case .lists = question.subject {
            return try keep(answer.split(separator: ",").map { $0.filter { !$0.isWhitespace } })
        }
        try question.apply(answer, to: &model)
    }
}

internal import EntitySchema

/// Drafts a schema from a description of an API.
package struct SchemaDrafter {
    let document: OpenAPIDocument
    /// Where it came from: an address or a file, for the comment at the top.
    let source: String

    package init(_ document: OpenAPIDocument, source: String) {
        self.document = document
        self.source = source
    }

    /// `only`: names of entities to draft; all if it is empty. What the reader of schemas refuses is left out.
    package func draft(only: [String] = []) throws(SchemaDraftError) -> SchemaDraft {
        let found = CollectionFinder(document: document).find()
        var model = DraftModel(
            name: Self.name(document.title), title: String(document.title.prefix(80)),
            origin: "\(source) (\(document.version), \(found.collections.count + found.leftOut.count) lists)",
            upstream: UpstreamGuess(document: document, collections: found.collections, source: source).upstream(),
            entities: EntityDrafter(document: document, collections: found.collections).entities(),
            leftOut: found.leftOut)
        try Self.keep(only, of: &model)
        let accepted = try DraftCheck.accepted(model)
        return SchemaDraft(model: accepted.model, yaml: accepted.yaml, schema: accepted.schema)
    }

    /// A schema's name: letters, digits and `-`.
    static func name(_ title: String) -> String {
        let name = Words.snake(title).split(separator: "_").filter { $0 != "api" }.prefix(4).joined(separator: "-")
        return name.isEmpty ? "drafted" : String(name.prefix(40))
    }

    /// Leaves out what was not asked for. A list below another needs that one too.
    static func keep(_ only: [String], of model: inout DraftModel) throws(SchemaDraftError) {
        guard !only.isEmpty else { return }
        for name in only where model[name] == nil {
            let known = model.entities.map(\.name)
            let hint = Suggestion.nearest(to: name, among: known).map { "; did you mean \($0)?" } ?? ""
            throw .nothing("there is no list \(name)\(hint) It has \(known.prefix(40).joined(separator: ", "))")
        }
        let needed = Set(only + only.compactMap { model[$0]?.below?.parent })
        for entity in model.entities where !needed.contains(entity.name) {
            model.entities.removeAll { $0.name == entity.name }
            model.leftOut.append(
                LeftOut(path: String(entity.origin.drop { $0 != "/" }), why: .notAsked, reason: "not asked for"))
            model.forget(entity.name, because: "not asked for")
        }
    }
}

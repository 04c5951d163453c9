/// The members of an answer and of the objects in it, those near the top first. Not what its lists have.
struct Places {
    struct Found {
        var names: [String]
        var shape: DataShape
    }

    private(set) var values: [Found] = []

    private static let deepest = 3
    private static let most = 300

    init(_ shapes: ShapeReader, _ answer: ListAnswer) {
        var level = [Found(names: [], shape: answer.answer)]
        for _ in 0..<Self.deepest {
            var next: [Found] = []
            for value in level {
                for property in value.shape.properties.prefix(60) where values.count < Self.most {
                    let inner = Found(names: value.names + [property.name], shape: shapes.shape(of: property))
                    if inner.shape.kind == .object { next.append(inner) }
                    values.append(inner)
                }
            }
            level = next
        }
    }

    /// The first member with one of these names and kinds, in the order of the names.
    func first(_ names: [String], _ kinds: [DataShape.Kind]) -> String? {
        first(names, kinds) { _ in true }
    }

    /// The number of all records; not one that is described as that of a page.
    func total(_ names: [String]) -> String? {
        first(names, [.integer, .number]) { !Self.isOfPage($0.description ?? "") }
    }

    private func first(_ names: [String], _ kinds: [DataShape.Kind], where fits: (DataShape) -> Bool) -> String? {
        for name in names {
            for value in values where Words.folded(value.names.last ?? "") == name && kinds.contains(value.shape.kind) {
                if fits(value.shape), let place = PlaceText.joined(value.names) { return place }
            }
        }
        return nil
    }

    /// `The number of items in this result set`, `on the current page`.
    private static func isOfPage(_ description: String) -> Bool {
        description.lowercased().contains(
            /(in|on) (this|the current|the returned) (page|response|result set|set|batch)/)
    }

    private static let cursorNames = [
        "nextcursor", "nextpagetoken", "nexttoken", "nextmarker", "continuationtoken", "iterator", "nextiterator",
        "endcursor", "paginationtoken", "next", "cursor", "after", "nextpage", "pagetoken", "since",
    ]
    private static let addressNames = [
        "odatanextlink", "nextlink", "nexturl", "nextpageurl", "next", "nexthref", "nextpageuri", "nexturi",
        "nextpagelink",
    ]

    /// Where the answer has the next page: a cursor, or an address.
    func next(isAddress: Bool) -> String? {
        for name in isAddress ? Self.addressNames : Self.cursorNames {
            for value in values where Words.folded(value.names.last ?? "") == name {
                if isAddress, value.shape.kind == .object, let href = inner("href", of: value) { return href }
                guard value.shape.isTextOrNumber, self.isAddress(value) == isAddress else { continue }
                if let place = PlaceText.joined(value.names) { return place }
            }
        }
        return nil
    }

    /// Where the answer has the value of one of these parameters for the next page: `next_page.offset`.
    func nextOfSameName(_ parameters: [String]) -> (parameter: String, place: String)? {
        for value in values where value.names.dropLast().contains(where: { Words.folded($0).contains("next") }) {
            let name = Words.folded(value.names.last ?? "")
            guard value.shape.isTextOrNumber, let place = PlaceText.joined(value.names),
                let parameter = parameters.first(where: { Words.folded($0) == name })
            else { continue }
            return (parameter, place)
        }
        return nil
    }

    private func inner(_ name: String, of value: Found) -> String? {
        value.shape[name] == nil ? nil : PlaceText.joined(value.names + [name])
    }

    private func isAddress(_ value: Found) -> Bool {
        if ["uri", "url", "uri-reference", "iri"].contains(value.shape.format ?? "") { return true }
        let around = value.names.dropLast().map(Words.folded)
        let name = Words.folded(value.names.last ?? "")
        if around.contains(where: { $0.contains("link") }) { return true }
        if name.hasSuffix("link") || name.hasSuffix("url") || name.hasSuffix("uri") || name.hasSuffix("href") {
            return true
        }
        let words = (value.shape.description ?? "").lowercased() + (value.shape.example?.text ?? "")
        return name == "next" && ["url", "http", "link", "path to", "path of"].contains(where: words.contains)
    }
}

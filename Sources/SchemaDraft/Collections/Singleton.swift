/// Tells the answer of a call that reads one record, such as settings, from a list: `/settings` with `{"theme": "dark",
/// "plugins": [{…}]}`, and `/user` with `{"user": {"id": 5}, "codes": [{…}]}`.
struct Singleton {
    let shapes: ShapeReader
    let path: PathPattern

    private static let words: Set = [
        "setting", "settings", "config", "configuration", "preference", "preferences", "profile", "account", "session",
        "info", "status", "me", "myself",
    ]
    /// Parts of the names of what an answer says about itself.
    private static let about = [
        "next", "prev", "page", "link", "url", "href", "token", "cursor", "kind", "etag", "version", "message", "total",
        "count", "limit", "offset", "size", "success", "ok", "more", "code", "timestamp", "time",
    ]

    /// Why an answer is no list, though it has one in these places; nil if it may be one. `names`: those of a member that is
    /// not called like the path.
    func reason(_ answer: DataShape, _ names: [String]) -> String? {
        let list = names.joined(separator: ".")
        let own = Words.folded(Words.singular(Collection.base(of: path).last ?? ""))
        let isBeside = answer.properties.contains { property in
            let shape = shapes.shape(of: property)
            return shape.kind == .object && Words.folded(property.name) == own && property.name != names.first
                && KeyGuess.hasOwnKey(shape, of: path, shapes)
        }
        if isBeside { return "it answers one record, beside which it has \(list)" }
        let isSettings = path.segments.filter { !$0.contains("{") }.contains { segment in
            Words.parts(of: segment).contains(where: Self.words.contains)
        }
        // `/cart` with `{"cart": {"currency": "EUR", "lines": [{…}]}}`.
        let isInside = names.count > 1 && names.first.map(Words.folded) == own
        guard isSettings || isInside, others(answer, names) else { return nil }
        return "it answers one record, which contains \(list)"
    }

    /// Whether something that is not about the answer stands beside the list, or around it.
    private func others(_ answer: DataShape, _ names: [String]) -> Bool {
        var shape = answer
        for name in names {
            let isOther = shape.properties.contains { property in
                let folded = Words.folded(property.name)
                return property.name != name && !shapes.shape(of: property).isList
                    && !Self.about.contains(where: folded.contains)
            }
            if isOther { return true }
            guard let inner = shape[name] else { return false }
            shape = shapes.shape(of: inner)
        }
        return false
    }
}

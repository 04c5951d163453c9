/// Where an answer has a single record.
struct RecordPlace {
    let shapes: ShapeReader
    let key: String
    /// What a record is called, without what differs between spellings.
    let name: String
    /// A record of the list.
    private let item: DataShape
    /// What the records above it are called.
    private let above: Set<String>

    init(of collection: Collection, _ shapes: ShapeReader) {
        self.shapes = shapes
        key = collection.key.value
        name = Words.folded(Words.singular(collection.name))
        item = collection.answer.item
        let names = collection.path.segments
        above = Set(
            zip(names, names.dropFirst()).filter { $1.contains("{") }.map { Words.folded(Words.singular($0.0)) })
    }

    /// Nil for the answer itself, also where nothing is known.
    func place(in answer: DataShape?) -> String? {
        answer.flatMap(names).flatMap(PlaceText.joined)
    }

    /// The names from the answer to the record; `0` for the first element of a list.
    func names(in answer: DataShape) -> [String]? {
        if answer.isList { return shapes.elements(of: answer)[key] == nil ? nil : ["0"] }
        if answer[key] != nil { return nil }
        var best: (names: [String], rank: Int)?
        for property in answer.properties.prefix(40) {
            let inner = shapes.shape(of: property)
            let own = Words.folded(property.name)
            let rank = own == name || Words.singular(own) == name ? 0 : Self.usual.contains(own) ? 1 : 2
            if inner[key] != nil, inner.kind == .object, rank < 2 || isAlike(inner, own) {
                if rank < best?.rank ?? 9 { best = ([property.name], rank) }
            } else if inner.kind == .object, rank < 2, let deeper = deeper(inner) {
                if rank + 3 < best?.rank ?? 9 { best = ([property.name] + deeper, rank + 3) }
            } else if inner.isList, rank < 2, shapes.elements(of: inner)[key] != nil {
                if rank + 5 < best?.rank ?? 9 { best = ([property.name, "0"], rank + 5) }
            }
        }
        return best?.names
    }

    /// Whether an object with a key may be such a record: it shows more of one than the key, and is not called like the record
    /// above it. An answer may have that one, or the settings around the record.
    private func isAlike(_ shape: DataShape, _ own: String) -> Bool {
        if let name = item.name, name == shape.name { return true }
        guard !above.contains(Words.singular(own)) else { return false }
        return shape.properties.count < 3 || shape.properties.contains { $0.name != key && item[$0.name] != nil }
    }

    private static let usual: Set = ["data", "result", "item", "record", "entry", "value", "object", "attributes"]

    private func deeper(_ shape: DataShape) -> [String]? {
        shape.properties.prefix(40).first { property in
            let inner = shapes.shape(of: property)
            return inner.kind == .object && inner[key] != nil
        }.map { [$0.name] }
    }
}

/// Where an answer has a single record.
struct RecordPlace {
    let shapes: ShapeReader
    let key: String
    /// What a record is called, without what differs between spellings.
    let name: String

    init(of collection: Collection, _ shapes: ShapeReader) {
        self.shapes = shapes
        key = collection.key.value
        name = Words.folded(Words.singular(collection.name))
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
            if inner[key] != nil, inner.kind == .object {
                if rank < best?.rank ?? 9 { best = ([property.name], rank) }
            } else if inner.kind == .object, rank < 2, let deeper = deeper(inner) {
                if rank + 3 < best?.rank ?? 9 { best = ([property.name] + deeper, rank + 3) }
            } else if inner.isList, rank < 2, shapes.elements(of: inner)[key] != nil {
                if rank + 5 < best?.rank ?? 9 { best = ([property.name, "0"], rank + 5) }
            }
        }
        return best?.names
    }

    private static let usual: Set = ["data", "result", "item", "record", "entry", "value", "object", "attributes"]

    private func deeper(_ shape: DataShape) -> [String]? {
        shape.properties.prefix(40).first { property in
            let inner = shapes.shape(of: property)
            return inner.kind == .object && inner[key] != nil
        }.map { [$0.name] }
    }
}

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
    /// The member of the list's answer that has the records.
    private let listName: String?

    init(of collection: Collection, _ shapes: ShapeReader) {
        self.shapes = shapes
        key = collection.key.value
        name = Words.folded(Words.singular(collection.name))
        item = collection.answer.item
        listName = collection.answer.names.last
        let names = collection.path.segments
        above = Set(
            zip(names, names.dropFirst()).filter { $1.contains("{") }.map { Words.folded(Words.singular($0.0)) })
    }

    private var match: RecordMatch { RecordMatch(item: item, shapes: shapes) }

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
            guard let found = found(property), found.rank < best?.rank ?? 9 else { continue }
            best = found
        }
        // An example of a record may leave out the key.
        if best.map({ $0.rank > 1 }) ?? true, match.isRecord(answer) { return nil }
        return best?.names
    }

    /// Where a member of an answer has the record, and how likely that is: the lower, the likelier.
    private func found(_ property: DataShape.Property) -> (names: [String], rank: Int)? {
        let inner = shapes.shape(of: property)
        let own = Words.folded(property.name)
        let isUsual = Self.usual.contains(own) || property.name == listName && !inner.isList
        let rank = isNamed(own) ? 0 : isUsual ? 1 : 2
        if rank == 2, isPart(property) { return nil }
        if inner.isList {
            let elements = shapes.elements(of: inner)
            let isOne = rank < 2 || property.name == listName && match.isRecord(elements)
            return isOne && elements[key] != nil ? ([property.name, "0"], rank + 5) : nil
        }
        guard inner.kind == .object else { return nil }
        if inner[key] != nil ? rank < 2 || isAlike(inner, own) : rank < 2 && match.isRecord(inner) {
            return ([property.name], rank)
        }
        guard rank < 2, let deeper = deeper(inner) else { return nil }
        return ([property.name] + deeper, rank + 3)
    }

    private func isNamed(_ own: String) -> Bool { own == name || Words.singular(own) == name }

    /// Whether the records of the list have such an object themselves.
    private func isPart(_ property: DataShape.Property) -> Bool {
        item[property.name].map { shapes.shape(of: $0).kind } == .object
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
        let found = shape.properties.prefix(40).filter { property in
            let inner = shapes.shape(of: property)
            return inner.kind == .object && inner[key] != nil && !isPart(property)
        }
        return (found.first { isNamed(Words.folded($0.name)) } ?? found.first).map { [$0.name] }
    }
}

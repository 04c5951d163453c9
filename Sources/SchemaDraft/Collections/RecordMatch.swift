/// Tells whether an answer is one record of a list.
struct RecordMatch {
    let item: DataShape
    let shapes: ShapeReader

    /// Whether it is the record itself, or has it as its only member: `{"task": {…}}`.
    func isOne(_ answer: DataShape?) -> Bool {
        guard let answer else { return false }
        if isRecord(answer) { return true }
        guard answer.properties.count == 1, let only = answer.properties.first else { return false }
        return isRecord(shapes.shape(of: only))
    }

    /// Whether it is the record, or has it as one of its members.
    func isIn(_ answer: DataShape?) -> Bool {
        guard let answer else { return false }
        return isOne(answer) || answer.properties.prefix(20).contains { isRecord(shapes.shape(of: $0)) }
    }

    func isRecord(_ shape: DataShape) -> Bool {
        guard !shape.isList else { return false }
        if let name = item.name, name == shape.name { return true }
        let names = Set(item.properties.map(\.name))
        let shared = names.intersection(shape.properties.map(\.name)).count
        return shared > 1 && shared * 10 >= 8 * min(names.count, shape.properties.count)
    }
}

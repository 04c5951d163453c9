/// Some records say of a member only that it is an object or null, as NestJS describes `number | null`. Its type is read from the
/// bodies that create or change a record. So is what an example or an answer shows, which may be null or one of several values.
struct SaidInBodies {
    let shapes: ShapeReader
    let bodies: [DataShape]

    init(of collection: Collection, _ shapes: ShapeReader) {
        self.shapes = shapes
        bodies = collection.writes.compactMap { $0.bodies.first(where: \.isJSON)?.shape }
    }

    func record(_ record: DataShape) -> DataShape {
        var record = record
        for (index, property) in record.properties.enumerated() where isBare(property) {
            let said = bodies.lazy.compactMap { $0[property.name] }.first { isScalar(shapes.shape(of: $0)) }
            if let said { record.properties[index].parts = said.parts }
        }
        for (index, property) in record.properties.enumerated() {
            guard let said = said(ofSeen: property) else { continue }
            record.properties[index].parts = said.parts + property.parts
        }
        return record
    }

    /// What the bodies say beyond what was seen of a member of which only that is known.
    private func said(ofSeen property: DataShape.Property) -> DataShape.Property? {
        guard property.parts.allSatisfy({ $0[ExampleShape.mark] != nil }) else { return nil }
        let isNull = property.parts.allSatisfy { $0["nullable"]?.boolean == true }
        let seen = shapes.shape(of: property)
        return bodies.lazy.compactMap { $0[property.name] }.first { property in
            let said = shapes.shape(of: property)
            return isNull ? said.kind != .unknown : saysMore(said, than: seen)
        }
    }

    private func saysMore(_ said: DataShape, than seen: DataShape) -> Bool {
        guard seen.format == nil, seen.refersTo == nil else { return false }
        if seen.kind == .integer, said.kind == .number { return true }
        guard said.kind == seen.kind, isScalar(said) else { return false }
        let values = said.enumValues.map(\.value)
        guard values.isEmpty else { return seen.example?.text.map(values.contains) == true }
        // What was seen as a text and has another form than the body's is none in answers.
        return said.format != nil && said.format?.hasPrefix("date") == false
    }

    private func isBare(_ property: DataShape.Property) -> Bool {
        let shape = shapes.shape(of: property)
        return shape.kind == .object && shape.properties.isEmpty && !shape.isMap
            && property.parts.contains { $0["nullable"]?.boolean == true }
    }

    private func isScalar(_ shape: DataShape) -> Bool {
        [.string, .integer, .number, .boolean].contains(shape.kind)
    }
}

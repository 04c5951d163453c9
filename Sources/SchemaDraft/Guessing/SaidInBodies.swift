/// Some records say of a member only that it is an object or null, as NestJS describes `number | null`. Its type is read from the
/// bodies that create or change a record.
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
        return record
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

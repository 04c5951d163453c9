/// Completes shapes by examples.
extension ShapeReader {
    /// Objects in objects and lists are looked at no deeper for what is left open, and at so many members of each.
    private static let deepestOpen = 4
    private static let mostOpen = 60

    /// Whether the document leaves open what some object or list in it has.
    func isOpen(_ shape: DataShape, depth: Int = 0) -> Bool {
        switch shape.kind {
        case .unknown: return true
        case .object where shape.properties.isEmpty: return !shape.isMap
        case .array where shape.items.isEmpty: return true
        default: break
        }
        guard depth < Self.deepestOpen else { return false }
        if shape.isList { return isOpen(elements(of: shape), depth: depth + 1) }
        return shape.properties.prefix(Self.mostOpen).contains { isOpen(self.shape(of: $0), depth: depth + 1) }
    }

    /// Adds what an example shows and the document does not say.
    func complete(_ shape: inout DataShape, with seen: DocumentValue) {
        guard seen["type"]?.text == shape.kind.rawValue else { return }
        if shape.isList { return shape.items.append(contentsOf: [seen["items"]].compactMap(\.self)) }
        let isUnsaid = shape.properties.isEmpty && !shape.isMap
        for (name, part) in seen["properties"]?.members ?? [] {
            if let index = shape.properties.firstIndex(where: { $0.name == name }) {
                shape.properties[index].parts.append(part)
            } else if isUnsaid {
                shape.properties.append(DataShape.Property(name: name, parts: [part]))
            }
        }
    }

    /// The kind of a scalar that is the example of what should be an object, and of which nothing else is said: NestJS
    /// describes `string | null` so.
    func shownScalar(_ shape: DataShape) -> DataShape.Kind? {
        guard shape.kind == .object, shape.properties.isEmpty, !shape.isMap,
            case .scalar(let text, let isPlain)? = shape.example, shape.example?.isNull == false,
            !text.hasPrefix("{"), !text.hasPrefix("[")
        else { return nil }
        guard isPlain else { return .string }
        return ["true", "false"].contains(text) ? .boolean : Double(text) == nil ? .string : .number
    }

    /// The example that stands beside an object or a list of which nothing else is said.
    func ownExample(of shape: DataShape) -> DocumentValue? {
        let isUnsaid =
            shape.kind == .unknown || shape.kind == .object && shape.properties.isEmpty && !shape.isMap
            || shape.isList && shape.items.isEmpty
        guard isUnsaid, let example = shape.example else { return nil }
        return ExampleShape.schema(of: [example])
    }
}

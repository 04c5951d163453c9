/// Reads the shape of values from JSON Schema as OpenAPI 2.0, 3.0 and 3.1 use it.
struct ShapeReader {
    let resolver: ReferenceResolver

    /// More combinations in combinations than any description needs.
    private static let deepest = 16
    /// More members or enum values than these are left out.
    private static let mostProperties = 1000
    private static let mostValues = 200

    /// What is left to look at for one shape: more than any description needs, and little enough for each of its members in turn.
    private struct Room {
        var values = 4000
        /// Members, required names and values of enums.
        var names = 10_000
        /// Where the shape has its members.
        var places: [String: Int] = [:]
    }

    init(root: DocumentValue) { resolver = ReferenceResolver(root: root) }

    func shape(of value: DocumentValue) -> DataShape { shape(of: [value]) }

    func shape(of property: DataShape.Property) -> DataShape { shape(of: property.parts) }

    func shape(of parts: [DocumentValue]) -> DataShape {
        var shape = DataShape()
        var room = Room()
        var seen: [DocumentValue] = []
        for part in parts {
            guard part[ExampleShape.mark] == nil else {
                seen.append(part)
                continue
            }
            let required = add(part, to: &shape, depth: 0, &room)
            shape.required.formUnion(required)
        }
        shape.requiredOfSome.subtract(shape.required)
        if shape.kind == .unknown { shape.kind = Self.kind(impliedBy: shape) }
        shape.kind = shownScalar(shape) ?? shape.kind
        for part in seen + [ownExample(of: shape)].compactMap(\.self) {
            if shape.kind == .unknown {
                _ = add(part, to: &shape, depth: 0, &room)
            } else {
                complete(&shape, with: part)
            }
        }
        return shape
    }

    /// That of an array's elements.
    func elements(of shape: DataShape) -> DataShape { self.shape(of: shape.items) }

    /// The shape at names inside objects.
    func shape(at names: [String], in shape: DataShape) -> DataShape? {
        var found = shape
        for name in names {
            guard let property = found[name] else { return nil }
            found = self.shape(of: property)
        }
        return found
    }

    private static func kind(impliedBy shape: DataShape) -> DataShape.Kind {
        if !shape.properties.isEmpty { return .object }
        if !shape.items.isEmpty { return .array }
        if !shape.enumValues.isEmpty { return .string }
        let isText = ["date", "date-time", "uuid", "uri", "email", "byte"].contains(shape.format ?? "")
        return isText ? .string : .unknown
    }

    /// Returns the members that the value must have: of several alternatives, those that each requires.
    private func add(_ value: DocumentValue, to shape: inout DataShape, depth: Int, _ room: inout Room) -> Set<String> {
        room.values -= 1
        guard depth < Self.deepest, room.values > 0, room.names > 0 else { return [] }
        let found = resolver.resolve(value)
        let value = found.value
        shape.name = shape.name ?? found.name
        addKeywords(value, to: &shape)
        addEnum(value, to: &shape)
        let properties = (value["properties"]?.members ?? []).prefix(Self.mostProperties)
        for (name, part) in properties { addProperty(name, part, to: &shape, &room) }
        if let items = value["items"] { shape.items.append(items) }
        var required = Set((value["required"]?.elements ?? []).prefix(Self.mostProperties).compactMap(\.text))
        room.names -= properties.count + required.count + (value["enum"]?.elements ?? []).prefix(Self.mostValues).count
        for part in value["allOf"]?.elements ?? [] {
            required.formUnion(add(part, to: &shape, depth: depth + 1, &room))
        }
        for word in ["oneOf", "anyOf"] {
            var common: Set<String>?
            for part in value[word]?.elements ?? [] {
                let own = add(part, to: &shape, depth: depth + 1, &room)
                shape.requiredOfSome.formUnion(own)
                if part["type"]?.text != "null" { common = common?.intersection(own) ?? own }
            }
            required.formUnion(common ?? [])
        }
        return required
    }

    private func addProperty(_ name: String, _ part: DocumentValue, to shape: inout DataShape, _ room: inout Room) {
        if let index = room.places[name] {
            if shape.properties[index].parts.count < 8 { shape.properties[index].parts.append(part) }
        } else if shape.properties.count < Self.mostProperties {
            room.places[name] = shape.properties.count
            shape.properties.append(DataShape.Property(name: name, parts: [part]))
        }
    }

    private func addKeywords(_ value: DocumentValue, to shape: inout DataShape) {
        let types = value["type"].map { $0.text.map { [$0] } ?? $0.elements.compactMap(\.text) } ?? []
        if shape.kind == .unknown, let type = types.first(where: { $0 != "null" }) {
            shape.kind = DataShape.Kind(rawValue: type) ?? .unknown
        }
        // NestJS describes the elements of any list as lists, beside what they are.
        let isObject = types.contains("object") && value["properties"] != nil
        if isObject, shape.kind == .array, shape.items.isEmpty { shape.kind = .object }
        shape.format = shape.format ?? value["format"]?.text
        shape.description = shape.description ?? value["description"]?.text
        shape.pattern = shape.pattern ?? value["pattern"]?.text
        shape.minimum = shape.minimum ?? value["minimum"]?.integer
        shape.maximum = shape.maximum ?? value["maximum"]?.integer
        shape.initial = shape.initial ?? value["default"]?.text
        shape.example = shape.example ?? value["example"] ?? value["examples"]?.elements.first
        shape.refersTo = shape.refersTo ?? value["x-refers-to"]?.text
        if value["additionalProperties"]?.members.isEmpty == false { shape.isMap = true }
        if Self.isNullable(value) { shape.isNullable = true }
        if value["readOnly"]?.boolean == true { shape.isReadOnly = true }
        if value["writeOnly"]?.boolean == true { shape.isWriteOnly = true }
    }

    /// Also with null among its types or values, with or without quotes.
    private static func isNullable(_ value: DocumentValue) -> Bool {
        let types = [value["type"]].compactMap(\.self) + (value["type"]?.elements ?? [])
        return types.contains { $0.isNull || $0.text == "null" }
            || value["enum"]?.elements.contains(where: \.isNull) == true
            || ["nullable", "x-nullable"].contains { value[$0]?.boolean == true }
    }

    private func addEnum(_ value: DocumentValue, to shape: inout DataShape) {
        func add(_ text: String, _ label: String?) {
            guard shape.enumValues.count < Self.mostValues, !shape.enumValues.contains(where: { $0.value == text })
            else { return }
            shape.enumValues.append(DataShape.EnumValue(value: text, label: label))
        }
        if let constant = value["const"]?.text { add(constant, value["title"]?.text) }
        let labels = Self.labels(value)
        for (index, element) in (value["enum"]?.elements ?? []).enumerated() {
            guard let text = element.text else { continue }
            add(text, labels(index, text))
        }
    }

    /// Names beside an enum, by one of the usual extensions: a list in the order of the values, or an object.
    private static func labels(_ value: DocumentValue) -> (Int, String) -> String? {
        for word in ["x-enumNames", "x-enum-labels", "x-enum-names"] {
            guard let names = value[word] else { continue }
            if names.isObject { return { names[$1]?.text } }
            let texts = names.elements.map(\.text)
            return { index, _ in texts.indices.contains(index) ? texts[index] : nil }
        }
        return { _, _ in nil }
    }
}

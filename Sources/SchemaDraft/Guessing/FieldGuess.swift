internal import EntitySchema

/// The fields of a collection, from the records of its list and from the single record.
struct FieldGuess {
    let shapes: ShapeReader
    let targets: ReferenceTargets
    /// The entity's name and key.
    let entity: String
    let key: String
    let tokens: TokenNames

    /// No one would read a schema with more fields.
    private static let most = 150

    private(set) var fields: [DraftField] = []
    /// In lower case.
    private var taken: Set<String> = []
    private var relations: Set<String> = []
    /// What stands beside the member that is being added.
    private var members: [DataShape.Property] = []

    init(
        shapes: ShapeReader, targets: ReferenceTargets, entity: String, key: String, tokens: TokenNames = TokenNames()
    ) {
        self.shapes = shapes
        self.targets = targets
        self.tokens = tokens
        self.entity = entity
        self.key = key
    }

    /// `place`: names from the record to these members, such as `attributes`.
    mutating func add(_ shape: DataShape, at place: [String] = []) {
        if place.isEmpty, let property = shape[key] { addKey(shapes.shape(of: property)) }
        let outer = members
        members = shape.properties
        defer { members = outer }
        for property in shape.properties where fields.count < Self.most {
            guard place.count > 0 || property.name != key else { continue }
            let inner = shapes.shape(of: property)
            // A change sends it, and what the record shows whole has its value.
            if place.isEmpty, inner.isWriteOnly, isShown(property.name, inner, in: shape) { continue }
            if place.isEmpty, property.name == "attributes", inner.kind == .object, !inner.properties.isEmpty {
                add(inner, at: ["attributes"])
            } else if place.isEmpty, property.name == "relationships", inner.kind == .object {
                addRelationships(inner)
            } else {
                add(property.name, inner, at: place)
            }
        }
    }

    private mutating func addKey(_ shape: DataShape) {
        guard !taken.contains(key.lowercased()) else { return }
        append(DraftField(key, .simple(shape.isNumber ? "integer" : "string")))
    }

    private mutating func append(_ field: DraftField) {
        taken.insert(field.name.lowercased())
        fields.append(field)
    }

    private mutating func add(_ name: String, _ shape: DataShape, at place: [String]) {
        let source = PlaceText.joined(place + [name])
        let isKnown = fields.contains { field in
            field.wireName == name && (field.from == nil ? place.isEmpty : field.from == source)
        }
        guard !isKnown else { return }
        // The member around it would hide a field of its name.
        let outer = place.first.map { [$0.lowercased()] } ?? []
        guard let fieldName = FieldNames.field(for: name, taken: taken.union(outer)), let source else { return }
        let from = fieldName == name && place.isEmpty ? nil : source
        if let reference = reference(name, shape) {
            var field = DraftField(fieldName, reference.kind, from: from, wireName: name, reason: reference.reason)
            field.isIndexed = true
            field.isWriteOnly = shape.isWriteOnly && from == nil
            return append(field)
        }
        guard let found = FieldKindGuess(shapes: shapes).kind(of: shape, name: name) else { return }
        var field = DraftField(fieldName, found.kind, from: from, wireName: name, reason: found.reason)
        field.isTextOnWire = found.isTextOnWire
        field.timeForm = found.timeForm
        field.isOtherTime = TimeText.isOther(shape) && !TimeText.isHTTP(shape)
        let object = shape.isList ? shapes.elements(of: shape) : shape
        field.hasObjects = shape.isList && object.kind == .object
        field.members = object.memberNames
        field.isSecret =
            FieldNames.isSecret(shape, name: name) || FieldNames.isToken(shape, name: name) && !tokens.identify(name)
        field.isIndexed = !field.isSecret && isWorthAnIndex(field)
        field.isWriteOnly = shape.isWriteOnly && from == nil
        append(field)
        if shape.kind == .object { addInner(name, shape, at: place) }
    }

    private func isWorthAnIndex(_ field: DraftField) -> Bool {
        switch field.kind {
        case .enum, .reference: true
        case .simple(let word):
            word == "time" || word == "string" && ["status", "state", "number", "code", "email"].contains(field.name)
        }
    }

    // MARK: Keys that changes send

    /// Adds what a body names by its key, where the records show it whole.
    mutating func addKeys(sentIn body: DataShape, records: [DataShape]) {
        for property in body.properties where fields.count < Self.most {
            let field = ShownKey(shapes: shapes).newField(
                property.name, shapes.shape(of: property), among: fields, records: records, taken: taken)
            if let field { append(field) }
        }
    }

    private func isShown(_ name: String, _ wanted: DataShape, in record: DataShape) -> Bool {
        ShownKey(shapes: shapes).newField(name, wanted, among: [], records: [record], taken: []) != nil
    }

    // MARK: References

    private mutating func reference(_ name: String, _ shape: DataShape) -> (kind: DraftField.Kind, reason: String)? {
        guard shape.isTextOrNumber, shape.enumValues.isEmpty else { return nil }
        if let path = shape.refersTo, let target = targets.target(at: path) {
            let stem =
                name.lowercased().hasSuffix("id") && name.count > 3
                ? String(Words.snake(name).dropLast(3)) : name + "_record"
            return (
                .reference(to: target.entity, as: relation(stem, of: name)), "its values are keys of \(target.entity)"
            )
        }
        if let found = targets.target(for: name, in: entity), fits(found.target, shape) {
            let kind = DraftField.Kind.reference(to: found.target.entity, as: relation(found.stem, of: name))
            return (kind, "its name says \(found.target.entity)")
        }
        // As Django has it: `customer: 5`; `customers: 5` is a count.
        guard shape.kind == .integer && Words.singular(name) == name || shape.format == "uuid",
            let target = targets[name], fits(target, shape)
        else {
            return nil
        }
        return (
            .reference(to: target.entity, as: relation(name + "_record", of: name)), "its name says \(target.entity)"
        )
    }

    private func fits(_ target: ReferenceTargets.Target, _ shape: DataShape) -> Bool {
        target.isNumber == shape.isNumber || shape.kind == .unknown
    }

    /// A relation's own name; nil if the one that the field gives it will do.
    mutating func relation(_ stem: String, of field: String) -> String? {
        let usual = Relation.name(ofReference: field)
        let base = Words.snake(stem)
        let names = [base, "\(base)_record"] + (2...9).map { "\(base)_\($0)" }
        let reserved = ["content", "history", "thumbnail"]
        let name =
            names.first { !relations.contains($0) && !reserved.contains($0) && FieldNames.isAllowed($0) } ?? usual
        relations.insert(name)
        return name == usual ? nil : name
    }

    /// `customer: {"id": 5, …}` is a reference to a customer, and stays as it is too, unless `customer_id` stands beside it.
    private mutating func addInner(_ name: String, _ shape: DataShape, at place: [String]) {
        guard let target = targets[name], let property = shape[target.key], fits(target, shapes.shape(of: property)),
            !members.contains(where: { isReference($0, of: name, to: target) })
        else {
            return
        }
        addReference("\(Words.snake(name))_id", to: target, stem: Words.snake(name), at: place + [name, target.key])
    }

    /// Whether a member refers to the record that another member shows whole.
    private func isReference(_ member: DataShape.Property, of name: String, to target: ReferenceTargets.Target) -> Bool
    {
        let (shape, own) = (shapes.shape(of: member), Words.folded(member.name))
        return PathParameter.ends(target.key) && own != Words.folded(name)
            && [name + "id", name + target.key].map(Words.folded).contains(own)
            && shape.isTextOrNumber && !shape.isWriteOnly && fits(target, shape)
    }

    /// JSON:API: `relationships.customer.data.id`.
    private mutating func addRelationships(_ shape: DataShape) {
        for property in shape.properties where fields.count < Self.most {
            guard let data = shapes.shape(at: ["data"], in: shapes.shape(of: property)), data.kind == .object,
                let target = targets[property.name]
            else { continue }
            let name = Words.snake(property.name)
            addReference("\(name)_id", to: target, stem: name, at: ["relationships", property.name, "data", "id"])
        }
    }

    private mutating func addReference(
        _ name: String, to target: ReferenceTargets.Target, stem: String, at place: [String]
    ) {
        guard FieldNames.isAllowed(name), !taken.contains(name), name != place.first,
            let from = PlaceText.joined(place)
        else { return }
        var field = DraftField(
            name, .reference(to: target.entity, as: relation(stem, of: name)), from: from, wireName: "",
            reason: "the record shows it at \(from)")
        field.isIndexed = true
        append(field)
    }
}

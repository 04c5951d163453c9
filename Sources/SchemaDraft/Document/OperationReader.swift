/// Reads the calls of a document: parameters, bodies and answers of both OpenAPI 2.0 and 3.
struct OperationReader {
    let root: DocumentValue
    let shapes: ShapeReader

    private static let methods = ["get", "post", "put", "patch", "delete"]
    /// More paths and parameters than these are left out.
    private static let mostPaths = 5000
    private static let mostParameters = 200

    init(root: DocumentValue) {
        self.root = root
        shapes = ShapeReader(root: root)
    }

    func operations() -> [APIOperation] {
        (root["paths"]?.members ?? []).prefix(Self.mostPaths).flatMap { text, item -> [APIOperation] in
            guard let path = PathPattern(PathPattern.asJSON(text)) else { return [] }
            let item = shapes.resolver.resolve(item).value
            return Self.methods.compactMap { method in
                item[method].map { operation(method, path, $0, item) }
            }
        }
    }

    private func operation(
        _ method: String, _ path: PathPattern, _ value: DocumentValue, _ item: DocumentValue
    ) -> APIOperation {
        let raw = parameters(value, item)
        let success = success(of: value)
        return APIOperation(
            method: method.uppercased(), path: path,
            parameters: raw.flatMap(all), bodies: bodies(value, raw),
            answer: success.flatMap(answerShape),
            answerHeaders: (success?["headers"]?.members ?? []).map(\.name),
            error: error(of: value).flatMap(answerShape),
            security: value["security"].map { $0.elements.first.map { $0.members.map(\.name) } ?? [] },
            words: ["summary", "operationId", "description"].compactMap { value[$0]?.text }.joined(separator: " "),
            titles: ["summary", "operationId"].compactMap { value[$0]?.text }, nextPlace: value["x-next-page"]?.text,
            isAnsweredCreated: successes(of: value).map(\.name) == ["201"],
            answerType: success.flatMap { Self.json(answerTypes(value, $0)) })
    }

    // MARK: Parameters

    /// Those of the operation, then those of its path that it does not set itself.
    private func parameters(_ operation: DocumentValue, _ item: DocumentValue) -> [DocumentValue] {
        var found: [DocumentValue] = []
        for value in (operation["parameters"]?.elements ?? []) + (item["parameters"]?.elements ?? []) {
            guard found.count < Self.mostParameters else { break }
            let value = shapes.resolver.resolve(value).value
            let isKnown = found.contains {
                $0["name"]?.text == value["name"]?.text && $0["in"]?.text == value["in"]?.text
            }
            if !isKnown { found.append(value) }
        }
        return found
    }

    private func parameter(_ value: DocumentValue) -> APIOperation.Parameter? {
        guard let name = value["name"]?.text, let place = value["in"]?.text else { return nil }
        let content = value["content"]?.members.first?.value["schema"]
        var shape = shapes.shape(of: value["schema"] ?? content ?? value)
        // As django-filter has it, any of several times; one of them is sent alike.
        let element = shapes.elements(of: shape)
        if shape.isList, element.format?.hasPrefix("date") == true { shape = element }
        shape.example = shape.example ?? value["example"]
        return APIOperation.Parameter(
            name: name, place: place, isRequired: value["required"]?.boolean ?? false,
            description: value["description"]?.text, shape: shape, separator: separator(value))
    }

    /// What stands between several values of a parameter; nil if it is repeated. Where the document leaves that open, its words
    /// count.
    private func separator(_ value: DocumentValue) -> String? {
        let format = root["swagger"] == nil ? value["style"]?.text : value["collectionFormat"]?.text ?? "csv"
        switch format {
        case "multi": return nil
        case "pipes": return "|"
        case "ssv": return " "
        case "tsv": return "\t"
        case "csv": return ","
        case "pipeDelimited" where value["explode"]?.boolean != true: return "|"
        case "spaceDelimited" where value["explode"]?.boolean != true: return " "
        default: break
        }
        if let isRepeated = value["explode"]?.boolean { return isRepeated ? nil : "," }
        return value["description"]?.text?.lowercased().contains(/comma[- ](separated|delimited)/) == true ? "," : nil
    }

    private static let bounds: Set = ["gt", "gte", "lt", "lte", "after", "before", "since", "from"]

    /// A parameter, and the members of an object as they stand in an address: `updated_at[gte]`, or `page` and `size` of a
    /// `pageable`, each as a parameter of its own.
    private func all(_ value: DocumentValue) -> [APIOperation.Parameter] {
        guard let whole = parameter(value) else { return [] }
        let members = whole.shape.properties.prefix(20)
        guard whole.place == "query", whole.shape.kind == .object, !members.isEmpty else { return [whole] }
        let hasBounds = members.contains { Self.bounds.contains(Words.folded($0.name)) }
        let isForm = ["form", nil].contains(value["style"]?.text) && value["explode"]?.boolean != false
        guard value["style"]?.text != "deepObject", !hasBounds else {
            return [whole] + members.map { member($0, of: whole, "\(whole.name)[\($0.name)]", isRequired: false) }
        }
        guard isForm, value["content"] == nil else { return [whole] }
        return members.compactMap { property in
            let isRequired = whole.isRequired && whole.shape.required.contains(property.name)
            let name = Words.folded(whole.name) == "pageable" ? Self.pageable(property.name) : property.name
            return name.map { member(property, of: whole, $0, isRequired: isRequired) }
        }
    }

    private func member(
        _ member: DataShape.Property, of whole: APIOperation.Parameter, _ name: String, isRequired: Bool
    ) -> APIOperation.Parameter {
        var shape = shapes.shape(of: member)
        // Spring counts pages from 0.
        if Words.folded(whole.name) == "pageable", name == "page" { shape.minimum = shape.minimum ?? 0 }
        return APIOperation.Parameter(
            name: name, place: whole.place, isRequired: isRequired, description: whole.description, shape: shape)
    }

    /// What Spring calls a member of its `Pageable` in addresses; nil for one that is not sent.
    private static func pageable(_ member: String) -> String? {
        switch Words.folded(member) {
        case "pagenumber": "page"
        case "pagesize": "size"
        case "offset", "paged", "unpaged": nil
        default: member
        }
    }

    // MARK: Bodies

    private func bodies(_ operation: DocumentValue, _ parameters: [DocumentValue]) -> [APIOperation.Body] {
        if let body = operation["requestBody"] {
            return (shapes.resolver.resolve(body).value["content"]?.members ?? []).prefix(8).map { type, content in
                let media = MediaDescription(content: content, shapes.resolver)
                let said = media.schema.map(shapes.shape) ?? DataShape()
                return APIOperation.Body(
                    mediaType: Self.essence(type), shape: media.shape(shapes) ?? said,
                    isShown: said.properties.isEmpty && said.items.isEmpty)
            }
        }
        let types = (operation["consumes"] ?? root["consumes"])?.elements.compactMap(\.text) ?? []
        if let body = parameters.first(where: { $0["in"]?.text == "body" }) {
            let shape = body["schema"].map(shapes.shape) ?? DataShape()
            return (types.isEmpty ? ["application/json"] : types).prefix(8).map {
                APIOperation.Body(mediaType: Self.essence($0), shape: shape)
            }
        }
        return form(parameters, types)
    }

    /// OpenAPI 2.0 lists the members of a form as parameters.
    private func form(_ parameters: [DocumentValue], _ types: [String]) -> [APIOperation.Body] {
        let members = parameters.filter { $0["in"]?.text == "formData" }
        guard !members.isEmpty else { return [] }
        var shape = DataShape(kind: .object)
        for member in members {
            guard let name = member["name"]?.text else { continue }
            shape.properties.append(DataShape.Property(name: name, parts: [Self.withoutRequired(member)]))
            if member["required"]?.boolean == true { shape.required.insert(name) }
        }
        let isMultipart =
            types.contains { $0.hasPrefix("multipart/") } || members.contains { $0["type"]?.text == "file" }
        let type = isMultipart ? "multipart/form-data" : "application/x-www-form-urlencoded"
        return [APIOperation.Body(mediaType: type, shape: shape)]
    }

    private static func withoutRequired(_ value: DocumentValue) -> DocumentValue {
        .object(DocumentObject(value.members.filter { $0.name != "required" && $0.name != "in" }))
    }

    static func essence(_ mediaType: String) -> String {
        String(mediaType.prefix { $0 != ";" }).lowercased().filter { !$0.isWhitespace }
    }

    // MARK: Answers

    private func success(of operation: DocumentValue) -> DocumentValue? {
        let answers = operation["responses"]?.members ?? []
        let known = successes(of: operation).sorted { $0.name.uppercased() < $1.name.uppercased() }
        let found = (known + answers.filter { $0.name == "default" }).map { shapes.resolver.resolve($0.value).value }
        return found.first { !described($0).isEmpty } ?? found.first
    }

    private func successes(of operation: DocumentValue) -> [(name: String, value: DocumentValue)] {
        (operation["responses"]?.members ?? []).filter { $0.name.hasPrefix("2") }
    }

    private func error(of operation: DocumentValue) -> DocumentValue? {
        let answers = operation["responses"]?.members ?? []
        return ["422", "400", "4XX", "409", "404", "403", "401", "500", "default"].lazy.compactMap { status in
            answers.first { $0.name.uppercased() == status }
        }.map { shapes.resolver.resolve($0.value).value }.first { !described($0).isEmpty }
    }

    private func described(_ answer: DocumentValue) -> MediaDescription {
        let content = answer["content"]?.members ?? []
        let type = Self.json(content.map(\.name))
        let json = content.first { Self.essence($0.name) == type } ?? content.first { $0.name == "*/*" }
        return json.map { MediaDescription(content: $0.value, shapes.resolver) } ?? MediaDescription(answer: answer)
    }

    /// In OpenAPI 2, those of the call or of all.
    private func answerTypes(_ operation: DocumentValue, _ answer: DocumentValue) -> [String] {
        if let content = answer["content"] { return content.members.map(\.name) }
        return (operation["produces"] ?? root["produces"])?.elements.compactMap(\.text) ?? []
    }

    /// The form of JSON that the daemon gets: what it asks for, or the first.
    private static func json(_ types: [String]) -> String? {
        let all = types.map(essence).filter { $0.contains("json") }
        return all.contains("application/json") ? "application/json" : all.first
    }

    private func answerShape(_ answer: DocumentValue) -> DataShape? { described(answer).shape(shapes) }
}

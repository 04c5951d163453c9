internal import JSONText

/// Reads `batch`: of the whole upstream, or of one push route.
struct BatchReader {
    let node: SchemaNode

    private static let keys = [
        "call", "type", "size", "max_bytes", "body", "element", "results", "by", "status", "answer", "record", "error",
        "atomic",
    ]

    /// `upstream.batch`: elements say method and path, and may differ by operation.
    func shared() throws(SchemaError) -> BatchPlan {
        try node.requireKeys(Self.keys + Operation.allCases.map(\.rawValue))
        let names = TemplateNames(values: BatchPlan.valueNames)
        if let element = node.child("element"), Operation.allCases.allSatisfy({ node.child($0.rawValue) != nil }) {
            throw element.error("create, update and delete each have an element of their own; remove element")
        }
        var elements: [Operation: BatchTemplate] = [:]
        for operation in Operation.allCases {
            guard let node = node.child(operation.rawValue) ?? node.child("element") else { continue }
            let template = try BatchTemplateReader(names: names, slots: [.body, .fields]).template(node)
            try template.checkSlots(of: operation) { node.error($0) }
            elements[operation] = template
        }
        guard !elements.isEmpty else { throw try node.required("element").error("expected what one change is") }
        return try plan(elements, names)
    }

    /// `batch` of a route of this operation. Without `element`, a new record is its body, an update its body beside the key,
    /// and a deletion the key alone.
    func own(key: String, _ source: Lift.Source?, _ operation: Operation) throws(SchemaError) -> BatchPlan {
        try node.requireKeys(Self.keys)
        var names = TemplateNames(values: BatchPlan.valueNames)
        names.hasFields = true
        var elements: [Operation: BatchTemplate] = [:]
        if let element = node.child("element") {
            let template = try BatchTemplateReader(names: names, slots: [.body, .fields]).template(element)
            for operation in Operation.allCases { elements[operation] = template }
        } else if let template = ValueTemplate("{\(key)}") {
            elements = usual(.text(template), at: source.map(Self.steps) ?? [key])
            if case .parts = source { elements[.delete] = nil }
            guard elements[operation] != nil else {
                throw node.error(
                    "the upstream has \(key) in another form, so it is not known how an element says which record it "
                        + "means; write that with values of the record in element")
            }
        }
        return try plan(elements, names)
    }

    /// An update has the key where records have it; there is none if they have it in another form.
    private func usual(_ key: BatchTemplate, at steps: [String]) -> [Operation: BatchTemplate] {
        let elements: [Operation: BatchTemplate] = [.create: .slot(.body), .delete: key]
        guard let name = steps.first else { return elements }
        let value = steps.dropFirst().reversed().reduce(key) { value, name in
            .object([BatchTemplate.Member(name: name, value: value)])
        }
        let members = [
            BatchTemplate.Member(name: name, value: value),
            BatchTemplate.Member(name: BatchTemplate.spread, value: .slot(.body)),
        ]
        return elements.merging([.update: .object(members)]) { $1 }
    }

    /// The names that lead to a value; none if it is not the key as it is, or stands in a list.
    private static func steps(to source: Lift.Source) -> [String] {
        guard case .value(let path) = source else { return [] }
        let steps = JSONPath.steps(path).map(String.init)
        return steps.contains { Int($0) != nil } ? [] : steps
    }

    private func plan(
        _ elements: [Operation: BatchTemplate], _ names: TemplateNames
    ) throws(SchemaError) -> BatchPlan {
        let (method, path) = try call()
        return BatchPlan(
            method: method, path: path, mediaType: try mediaType(),
            size: try node.child("size")?.integer(in: 2...1000) ?? BatchPlan.usualSize, bytes: try bytes(),
            body: try body(), elements: elements, results: try node.child("results")?.place() ?? .itself,
            match: try match(names, elements), status: try node.child("status")?.place(),
            answer: try node.child("answer")?.place() ?? .itself, record: try node.child("record")?.place(),
            error: try node.child("error")?.place(), isAtomic: try node.flag("atomic"))
    }

    private func call() throws(SchemaError) -> (method: String, path: String) {
        let node = try node.required("call")
        let words = try node.string().split(separator: " ").map(String.init)
        guard words.count == 2, ["POST", "PUT", "PATCH"].contains(words[0]), words[1].hasPrefix("/"),
            !words[1].contains("{")
        else { throw node.error("expected a method and a path without braces, such as POST /api/batch") }
        return (words[0], words[1])
    }

    /// With parameters, such as the extension that JSON:API names in it.
    private func mediaType() throws(SchemaError) -> String {
        guard let node = node.child("type") else { return BodyEncoding.plain.mediaType }
        let type = try node.string()
        let essence = type.prefix { $0 != ";" }
        guard essence == "application/json" || essence.hasPrefix("application/") && essence.hasSuffix("+json"),
            type.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
        else { throw node.error("expected the media type of a JSON body, such as application/json") }
        return type
    }

    private func bytes() throws(SchemaError) -> Int {
        guard let node = node.child("max_bytes") else { return BatchPlan.usualBytes }
        guard let bytes = ByteCount(text: try node.string())?.bytes, (1 << 10...1 << 26).contains(bytes) else {
            throw node.error("expected a size from 1KiB to 64MiB, such as 500KiB")
        }
        return bytes
    }

    private func body() throws(SchemaError) -> BatchTemplate {
        guard let node = node.child("body") else { return .slot(.changes) }
        let body = try BatchTemplateReader(names: TemplateNames(), slots: [.changes]).template(node)
        guard body.slots.count == 1 else { throw node.error("expected $changes, the list of elements, once") }
        return body
    }

    /// `order`, or the place of a value in the result and the element's value: `{ id: "{$id}" }`.
    private func match(
        _ names: TemplateNames, _ elements: [Operation: BatchTemplate]
    ) throws(SchemaError) -> BatchPlan.Match {
        guard let node = node.child("by") else { return .order }
        guard node.isMapping else {
            guard try node.string() == "order" else {
                throw node.error("expected order, or what a result repeats of its element, such as { id: \"{$id}\" }")
            }
            return .order
        }
        let members = try node.members()
        guard members.count == 1, let (place, value) = members.first else {
            throw node.error("expected one place in the result and the value there, such as { id: \"{$id}\" }")
        }
        let template = try value.valueTemplate(names)
        guard template.placeholders.contains(where: { Self.marks.contains($0.name) || $0.name.isField }) else {
            throw value.error("expected a value that no two elements share: {$id}, {$key} or the record's key")
        }
        let number = ValueTemplate.Name.value("id")
        if template.placeholders.contains(where: { $0.name == number }),
            let bare = elements.first(where: { !$0.value.names.contains(number) })
        {
            throw value.error(
                "the element of \(Self.names[bare.key] ?? "a change") has no {$id} that a result could "
                    + "repeat; add it to element")
        }
        return .value(at: Place(paths: [place]), template)
    }

    private static let names: [Operation: String] = [
        .create: "a new record", .update: "an update", .delete: "a deletion",
    ]
    private static let marks: [ValueTemplate.Name] = [.value("id"), .value("key"), .value("path")]
}

extension ValueTemplate.Name {
    fileprivate var isField: Bool { if case .field = self { true } else { false } }
}

extension BatchTemplate {
    /// Refuses an element that would leave out what the change says.
    func checkSlots(
        of operation: Operation, _ error: (String) -> SchemaError
    ) throws(SchemaError) {
        let count = slots.count
        guard count > 1 || count == 0 && operation != .delete else { return }
        throw error(
            "an element of a batch that is \(operation == .create ? "a new record" : "an \(operation)") has "
                + "$body (what its own route sends) or $fields (its fields alone) once")
    }
}

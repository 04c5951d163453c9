/// What a document says about JSON that is sent or answered: a schema, and examples of it.
struct MediaDescription {
    var schema: DocumentValue?
    var examples: [DocumentValue] = []

    var isEmpty: Bool { schema == nil && examples.isEmpty }

    /// Of OpenAPI 3: `content`'s value for one media type.
    init(content: DocumentValue, _ resolver: ReferenceResolver) {
        schema = content["schema"]
        let named = (content["examples"]?.members ?? []).compactMap { resolver.resolve($0.value).value["value"] }
        examples = [content["example"].map { resolver.resolve($0).value }].compactMap(\.self) + named
    }

    /// Of OpenAPI 2: an answer, whose examples stand under their media types.
    init(answer: DocumentValue) {
        schema = answer["schema"]
        let all = answer["examples"]?.members ?? []
        examples = all.filter { OperationReader.essence($0.name).contains("json") }.map(\.value)
    }

    /// Nil if nothing is said. Examples fill in what the schema leaves open.
    func shape(_ shapes: ShapeReader) -> DataShape? {
        guard let schema else { return ExampleShape.schema(of: examples).map(shapes.shape) }
        let shape = shapes.shape(of: schema)
        guard !examples.isEmpty, shapes.isOpen(shape), let seen = ExampleShape.schema(of: examples) else {
            return shape
        }
        return shapes.shape(of: [schema, seen])
    }
}

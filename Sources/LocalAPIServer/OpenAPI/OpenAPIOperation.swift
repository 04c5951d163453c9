/// The description of a call in the OpenAPI document, without its method and path.
struct OpenAPIOperation: Sendable {
    /// What an answer or a body holds.
    enum Content: Sendable {
        case nothing
        /// The component schema of this name.
        case json(String)
        /// The same, or plain text if the caller accepts that.
        case jsonOrText(String)
        /// A page, of the component schema of this name, or the whole list in another format if the caller accepts that.
        case list(String)
        /// Bytes of one of these media types.
        case bytes([String])
        /// Text of this media type.
        case text(String)
        /// A stream of events, each with this component schema.
        case events(String)
    }

    var summary: String
    /// Names of component parameters.
    var parameters: [String]
    /// The component schema of the body; nil without a body.
    var body: String?
    var bodyIsOptional: Bool
    /// Whether the body may be a merge patch too.
    var takesMergePatch: Bool
    /// The media types of a body of bytes.
    var bodyTypes: [String]
    var answers: [(status: Int, content: Content)]
    /// The statuses of its problems, besides those of every call.
    var problems: [Int]
    /// A link to the calls of what it answers: their common path, and a JSON pointer to the key in the answer (RFC
    /// 6901).
    var leads: (to: String, key: String)?

    init(
        _ summary: String, parameters: [String] = [], body: String? = nil, bodyIsOptional: Bool = false,
        takesMergePatch: Bool = false,
        bodyTypes: [String] = [], answers: [(status: Int, content: Content)], problems: [Int] = [],
        leads: (to: String, key: String)? = nil
    ) {
        self.summary = summary
        self.parameters = parameters
        self.body = body
        self.bodyIsOptional = bodyIsOptional
        self.takesMergePatch = takesMergePatch
        self.bodyTypes = bodyTypes
        self.answers = answers
        self.problems = problems
        self.leads = leads
    }

    /// What a request may have. `names`: component → name in the query.
    func shape(_ names: [String: String]) -> RequestShape {
        // A list says itself which filters there are.
        let hasFilters = parameters.contains { $0.hasSuffix(".comparisons") || $0 == "retry_count" }
        let isRepeatable = parameters.contains("idempotency_key")
        let known = parameters.compactMap { names[$0] }
        return RequestShape(
            parameters: hasFilters ? nil : known,
            takesBody: body != nil || !bodyTypes.isEmpty, isRepeatable: isRepeatable,
            findsMore: body != nil || isRepeatable || !known.isEmpty)
    }
}

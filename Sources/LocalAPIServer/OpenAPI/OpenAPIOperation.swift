/// What the OpenAPI document says of a call besides its method and path.
struct OpenAPIOperation: Sendable {
    /// What an answer or a body holds.
    enum Content: Sendable {
        case nothing
        /// The component schema of this name.
        case json(String)
        /// The same, or plain text where the caller asks for that.
        case jsonOrText(String)
        /// Bytes of any of these types.
        case bytes([String])
        /// Text of another type.
        case text(String)
        /// A stream whose every event is as this component schema says.
        case events(String)
    }

    var summary: String
    /// Names of component parameters.
    var parameters: [String]
    /// The component schema of the body; nil where none is sent.
    var body: String?
    var bodyIsOptional: Bool
    /// Of a body of bytes.
    var bodyTypes: [String]
    var answers: [(status: Int, content: Content)]
    /// Problems that it meets besides those that every call may.
    var problems: [Int]
    /// Where what it answers can be called by itself: the address of all of it, and where the answer has a key (RFC 6901).
    var leads: (to: String, key: String)?

    init(
        _ summary: String, parameters: [String] = [], body: String? = nil, bodyIsOptional: Bool = false,
        bodyTypes: [String] = [], answers: [(status: Int, content: Content)], problems: [Int] = [],
        leads: (to: String, key: String)? = nil
    ) {
        self.summary = summary
        self.parameters = parameters
        self.body = body
        self.bodyIsOptional = bodyIsOptional
        self.bodyTypes = bodyTypes
        self.answers = answers
        self.problems = problems
        self.leads = leads
    }
}

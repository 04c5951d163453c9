internal import EntitySchema
internal import LocalAPI
internal import SocketServer

/// One call of the API: all that the server knows of it. `RouteTable` lists them.
struct Route: Sendable {
    /// Who may make the call. Host, Origin and body type are checked for every call.
    enum Access: Sendable {
        /// Even a caller that is not known.
        case anyone
        /// A caller known by its user, or by the token.
        case knownCallers
    }

    /// `id` is the `{id}` of the path; empty where the path has none.
    typealias Handler =
        @Sendable (_ handlers: Handlers, _ request: Request, _ id: String) async throws -> Response

    var method: String
    /// The label in the metrics; the client fills in the same template.
    var template: PathTemplate
    /// The template with the names of entity and relation in place: only `{id}` is left variable.
    var path: String
    var access = Access.knownCallers
    /// The entity whose schema decides which methods its address takes; nil where the schema decides nothing.
    var entity: String?
    /// The most bytes of a body that streams; nil where no body streams.
    var streamLimit: Int?
    /// Whether the OpenAPI document of this schema has the call.
    var isDocumented = true
    var operation: OpenAPIOperation
    var handler: Handler

    /// A call that every system has.
    static func fixed(
        _ method: String, _ template: PathTemplate, access: Access = .knownCallers, isDocumented: Bool = true,
        _ operation: OpenAPIOperation, _ handler: @escaping Handler
    ) -> Route {
        Route(
            method: method, template: template, path: template.text, access: access, isDocumented: isDocumented,
            operation: operation, handler: handler)
    }

    /// As the OpenAPI document describes it.
    var call: OpenAPICall {
        OpenAPICall(method: method, path: path, isOpen: access == .anyone, operation: operation)
    }

    /// The segments of the path, without the empty one before its first slash.
    var segments: [String] {
        path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }
}

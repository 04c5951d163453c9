internal import EntitySchema
internal import LocalAPI
internal import SocketServer

/// One call of the API, with everything the server knows about it. `RouteTable` lists them all.
struct Route: Sendable {
    /// Who may make the call. Host, origin and body type are checked for every call.
    enum Access: Sendable {
        /// Unknown callers too.
        case anyone
        /// A caller known by its user or by the token.
        case knownCallers
    }

    /// `id` is the variable segment of the path, or what `key` makes of it, or empty.
    typealias Handler =
        @Sendable (_ handlers: Handlers, _ request: Request, _ id: String) async throws -> Response

    /// Answers at once from the cache; nil if that does not suffice. What it throws, the handler throws as well.
    typealias Reader = @Sendable (_ handlers: Handlers, _ request: Request, _ id: String) throws -> Response?

    /// The key of the record that an id means.
    typealias Key = @Sendable (_ handlers: Handlers, _ id: String) throws -> String

    var method: String
    /// The metric label. The client fills in the same template.
    var template: PathTemplate
    /// The template with the names of the entity and relation that it is for; what is left in braces is variable.
    var path: String
    var access = Access.knownCallers
    /// The entity whose schema decides which methods the address has; nil if they are fixed.
    var entity: String?
    /// The limit of a body that streams, in bytes; nil if no body streams.
    var streamLimit: Int?
    /// Whether the OpenAPI document includes the call.
    var isDocumented = true
    var operation: OpenAPIOperation
    /// Its operation id in the OpenAPI document; `RouteTable` sets that of an entity's call.
    var name = ""
    /// What a request may have; `RouteTable` sets it, from the operation.
    var shape = RequestShape(parameters: [], takesBody: false)
    /// Nil if the handler finds the record itself, or the id is its key.
    var key: Key?
    /// Asked before the handler, for the reads that are most frequent.
    var reader: Reader?
    var handler: Handler

    /// A call that does not depend on an entity.
    static func fixed(
        _ method: String, _ template: PathTemplate, _ name: String, access: Access = .knownCallers,
        isDocumented: Bool = true, _ operation: OpenAPIOperation, _ handler: @escaping Handler
    ) -> Route {
        Route(
            method: method, template: template, path: template.text, access: access, isDocumented: isDocumented,
            operation: operation, name: name, handler: handler)
    }

    /// A read that does not depend on an entity, and is always answered at once.
    static func cached(
        _ template: PathTemplate, _ name: String, _ operation: OpenAPIOperation,
        _ read: @escaping @Sendable (_ handlers: Handlers, _ request: Request) throws -> Response
    ) -> Route {
        quick(template, name, operation, reader: { handlers, request, _ in try read(handlers, request) }) {
            handlers, request, _ in try read(handlers, request)
        }
    }

    /// A read that does not depend on an entity, and is mostly answered at once.
    static func quick(
        _ template: PathTemplate, _ name: String, _ operation: OpenAPIOperation, reader: @escaping Reader,
        handler: @escaping Handler
    ) -> Route {
        var route = fixed("GET", template, name, operation, handler)
        route.reader = reader
        return route
    }

    /// The call as the OpenAPI document describes it.
    var call: OpenAPICall {
        OpenAPICall(method: method, path: path, isOpen: access == .anyone, operation: operation, id: name)
    }

    /// Whether it only reads, so that every condition is one of its answer (RFC 9110, 13.2.1).
    var isRead: Bool { method == "GET" }

    /// The segments of the path, without the empty one before its first slash.
    var segments: [String] {
        path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }
}

/// A route that is referred to: to copy one takes longer than to find it.
final class HeldRoute: Sendable {
    let route: Route

    init(_ route: Route) { self.route = route }
}

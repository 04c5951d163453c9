internal import EntitySchema
internal import SocketServer

/// What a call takes besides its path. A request with more is refused, so that no part of it is misunderstood silently.
struct RequestShape: Sendable {
    /// The names of its query parameters; nil for a list, which checks its filters itself.
    var parameters: [String]?
    /// Whether it has a body, be it JSON or the bytes of a content; the handler checks what is in it.
    var takesBody: Bool
    /// Whether the handler checks the conditions of a write; if not, none can be met.
    var checksConditions = true
    /// Whether it takes an `Idempotency-Key`.
    var isRepeatable = false
    /// Whether the handler looks for more mistakes and throws all of them, so that the caller learns of all at once. Any
    /// other is only called for requests that have none.
    var findsMore = false

    /// The mistakes that show without the handler. Costs nothing for a request with neither a query nor a body. Throws for a
    /// query that cannot be read.
    func mistakes(of request: Request) throws(Problem) -> Mistakes {
        var mistakes = Mistakes()
        if request.query != nil, let parameters {
            mistakes.add(Self.strays(try QueryParameters(request), known: parameters))
        }
        if isRepeatable { mistakes.collect { () throws(Problem) in _ = try IdempotencyKey(request) } }
        if !checksConditions { mistakes.collect(try WriteConditions.refuse(request)) }
        // An empty object asks for nothing, and many clients send one with every POST.
        if !takesBody, !request.body.isEmpty, request.body != Array("{}".utf8) {
            mistakes.add([.body("", "this call takes no body; send it without one", .unexpectedBody)])
        }
        return mistakes
    }

    private static func strays(_ query: QueryParameters, known: [String]) -> [Problem] {
        query.items.lazy.map(\.name).filter { !known.contains($0) }.prefix(Mistakes.most).map {
            stray($0, known: known)
        }
    }

    /// The problem of a parameter that is not among `known`.
    static func stray(_ name: String, known: [String]) -> Problem {
        let takes = known.isEmpty ? "It takes none" : "It takes \(known.joined(separator: ", "))"
        let near = Suggestion.hint(for: name, among: known, else: ".")
        return .parameter(name, "this address has no parameter \(name.prefix(50))\(near) \(takes)", .unknownParameter)
    }
}

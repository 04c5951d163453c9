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

    /// Costs nothing for a request with neither a query nor a body.
    func check(_ request: Request) throws(Problem) {
        if request.query != nil, let parameters { try Self.check(QueryParameters(request), against: parameters) }
        if !checksConditions { try WriteConditions.refuse(request) }
        // An empty object asks for nothing, and many clients send one with every POST.
        guard takesBody || request.body.isEmpty || request.body == Array("{}".utf8) else {
            throw Problem(.unexpectedBody, "this call takes no body; send it without one")
        }
    }

    private static func check(_ query: QueryParameters, against known: [String]) throws(Problem) {
        let strays = query.items.map(\.name).filter { !known.contains($0) }
        guard !strays.isEmpty else { return }
        let takes = known.isEmpty ? "It takes none" : "It takes \(known.joined(separator: ", "))"
        let problems = strays.map { stray in
            let near = Suggestion.nearest(to: stray, among: known).map { "; did you mean \($0)?" } ?? "."
            return Problem.parameter(
                stray, "this address has no parameter \(stray.prefix(50))\(near) \(takes)", .unknownParameter)
        }
        throw Problem(problems)
    }
}

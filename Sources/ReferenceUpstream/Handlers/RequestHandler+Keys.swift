internal import EntitySchema
internal import JSONText
internal import SocketServer

/// Where a write carries its idempotency key.
extension RequestHandler {
    /// In the schema's header, or where a route of the schema has `{$key}`.
    func idempotencyKey(of request: Request) -> String? {
        if let header = schema.upstream.idempotencyHeader, isRead(header, in: request) {
            return request.headers[single: header.name]
        }
        guard request.method != "GET", let matches = try? matches(request) else { return nil }
        for match in matches {
            guard let route = match.target.writeRoute, route.namesKey else { continue }
            let inPath = match.placeholders[Template.key] ?? key(in: request.query, route)
            if let key = inPath ?? key(inBody: request, route) { return key }
        }
        return nil
    }

    /// Whether the header is looked for: a server that knows only creations by it ignores it in all other changes.
    private func isRead(_ header: UpstreamPlan.IdempotencyHeader, in request: Request) -> Bool {
        guard header.operations.count < Operation.allCases.count, let matches = try? matches(request) else {
            return true
        }
        return matches.contains { $0.target.operation.map(header.operations.contains) ?? true }
    }

    private func key(in query: String?, _ route: PushRoute) -> String? {
        let items = route.path.source.split(separator: "?", maxSplits: 1).dropFirst().first?.split(separator: "&") ?? []
        let names = items.filter { $0.hasSuffix("={\(Template.key)}") }.map { $0.prefix { $0 != "=" } }
        let given = query.flatMap { PercentCoding.parameters($0) } ?? []
        return given.first { item in names.contains { $0 == item.name } }?.value
    }

    private func key(inBody request: Request, _ route: PushRoute) -> String? {
        let body = try? (route.encoding == .form ? URLForm(request.body).members() : JSONText(request.body))
        return body.flatMap { route.envelope?.values(in: $0) }?[Template.key]?.plain
    }
}

extension Routes.Target {
    fileprivate var writeRoute: PushRoute? {
        switch self {
        case .push(_, _, let route), .upload(_, let route), .removal(_, let route): route
        default: nil
        }
    }

    /// Of a change of one record; nil of anything else.
    fileprivate var operation: Operation? {
        switch self {
        case .push(_, let operation, _): operation
        case .upload, .removal: .update
        default: nil
        }
    }
}

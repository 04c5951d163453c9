internal import EntitySchema
internal import SocketServer

/// Tells a GET for the list of what changed from one for the list of everything at the same address.
struct ChangesQuery {
    private let headers: Headers
    private let parameters: [QueryItem]

    init(_ request: Request) {
        headers = request.headers
        parameters = (PercentCoding.parameters(request.query) ?? []).map { QueryItem(name: $0.name, value: $0.value) }
    }

    /// By the constants, if the two lists have others; else by what says since when.
    func asks(for pull: PullPlan?) -> Bool {
        guard let pull, let changes = pull.changes, has(changes.query) else { return false }
        if changes.query != pull.query { return !has(pull.query) || changes.query.count > pull.query.count }
        let values = changes.call?.values(in: parameters, headers, nil) ?? [:]
        switch pull.mode {
        case .since(let parameter, _):
            return values["since"] != nil || !parameter.isInTemplate && names(parameter.name)
        case .delta(let token):
            if case .token(let name?) = token.form { return names(name) }
            return values["delta"] != nil
        case .newestFirst, .full: return false
        }
    }

    private func has(_ constants: [QueryItem]) -> Bool { constants.allSatisfy(parameters.contains) }

    private func names(_ parameter: String) -> Bool { parameters.contains { $0.name == parameter } }
}

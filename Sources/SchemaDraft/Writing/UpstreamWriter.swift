internal import EntitySchema

/// Writes `upstream`.
struct UpstreamWriter {
    let upstream: DraftUpstream
    let paging: DraftPaging
    /// Why all lists are paged so.
    let reason: String?

    var member: YAMLNode.Member {
        var members: [YAMLNode.Member] = []
        members.add("base_url", upstream.address)
        if let auth { members.append(auth) }
        if !upstream.headers.isEmpty {
            let headers = upstream.headers.map { YAMLNode.Member($0.name, .text($0.value.value), $0.value.reason) }
            members.append(YAMLNode.Member("headers", .block(headers)))
        }
        members.add("probe", upstream.probe)
        members.add("error_message", upstream.errorMessage)
        members.append(YAMLNode.Member("pagination", PagingWriter.node(paging), reason))
        if let header = upstream.idempotencyHeader {
            members.append(YAMLNode.Member("idempotency_header", Self.node(header.value), header.reason))
        }
        if let tags = upstream.hasEntityTags {
            members.append(YAMLNode.Member("version", .mapping([YAMLNode.Member("etag", .word("true"))]), tags.reason))
        }
        if !upstream.todos.isEmpty { members.append(.comment(upstream.todos.map { "TODO \($0)" })) }
        return YAMLNode.Member("upstream", .block(members))
    }

    private static func node(_ header: UpstreamPlan.IdempotencyHeader) -> YAMLNode {
        let operations = Operation.allCases.filter(header.operations.contains)
        guard operations != Operation.allCases else { return .text(header.name) }
        return .mapping([
            YAMLNode.Member("header", .text(header.name)),
            YAMLNode.Member("for", .list(operations.map { .text($0.rawValue) })),
        ])
    }

    private var auth: YAMLNode.Member? {
        let reason = upstream.signIn.reason
        func send(_ members: [YAMLNode.Member]) -> YAMLNode.Member {
            YAMLNode.Member("auth", .mapping([YAMLNode.Member("send", .mapping(members))]), reason)
        }
        switch upstream.signIn.value {
        case .none: return nil
        case .bearer: return YAMLNode.Member("auth", .mapping([YAMLNode.Member("type", .text("bearer"))]), reason)
        case .header(let name, let value):
            return send(
                [YAMLNode.Member("header", .text(name))] + (value.map { [YAMLNode.Member("value", .text($0))] } ?? []))
        case .query(let name): return send([YAMLNode.Member("query", .text(name))])
        case .basic: return send([YAMLNode.Member("basic", .word("true"))])
        case .clientCredentials(let url, let scope):
            let members =
                [YAMLNode.Member("token_url", .text(url))] + (scope.map { [YAMLNode.Member("scope", .text($0))] } ?? [])
            return YAMLNode.Member(
                "auth", .mapping([YAMLNode.Member("client_credentials", .mapping(members))]), reason)
        }
    }
}

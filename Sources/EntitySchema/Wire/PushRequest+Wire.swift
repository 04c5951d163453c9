package import JSONText

/// How a change goes over the wire, for whoever sends it and whoever shows what would be sent.
extension PushRequest {
    /// The header fields that it is sent with, besides the token and what belongs to the connection.
    ///
    /// Every attempt of one change carries the same key, so that a repeat is recognised as one.
    package func headers(_ plan: UpstreamPlan, idempotencyKey: String) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        if let name = plan.idempotencyHeader { headers.append((name, idempotencyKey)) }
        if let version { headers.append((plan.versionHeader, version)) }
        if body != nil { headers.append(("Content-Type", "application/json")) }
        if let content { headers.append(("Content-Type", content.type)) }
        return headers
    }

    /// The request as people see it, to the letter; who shows it has put something else in the place of secrets.
    package func shown(_ plan: UpstreamPlan, idempotencyKey: String) -> JSONText {
        let fields = headers(plan, idempotencyKey: idempotencyKey).map {
            (key: $0.name, value: JSONText.string($0.value))
        }
        return .object([
            "method": .string(method), "path": .string(path), "headers": .object(members: fields),
            "body": body ?? .null,
        ])
    }
}

extension UpstreamPlan {
    /// What the version that a change builds on is sent in.
    var versionHeader: String {
        if case .field(_, let header) = version { header } else { "If-Match" }
    }
}

package import JSONText

/// The requests that concern the upstream as a whole.
extension UpstreamPlan {
    /// Asks whether the upstream works, without a token.
    package var probeRequest: WireRequest { WireRequest(path: probe) }
}

extension UpstreamPlan.Account {
    /// Asks for the identity that a token belongs to.
    package var request: WireRequest { .get(path) }
}

extension UpstreamPlan.Refresh {
    /// Exchanges a refresh token for a new access token.
    package func request(with refreshToken: String) -> WireRequest {
        .post(path, .object(members: [(send, .string(refreshToken))]), secrets: [refreshToken])
    }
}

extension LoginStep {
    /// This step of a sign-in. `known` holds the answers to all questions so far and the values kept from responses.
    package func request(with known: [String: JSONText]) -> WireRequest {
        let names = send + questions.map(\.name)
        let body = JSONText.object(members: names.compactMap { name in known[name].map { (key: name, value: $0) } })
        return .post(path, body, secrets: questions.filter(\.secret).compactMap { known[$0.name]?.plain })
    }
}

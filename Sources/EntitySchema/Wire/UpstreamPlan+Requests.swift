package import JSONText

/// The requests that concern the upstream as a whole.
extension UpstreamPlan {
    /// Asks whether the upstream works, without a token.
    package var probeRequest: WireRequest { WireRequest(path: probe) }

    /// Ends the sign-in of the token that it carries; nil if the schema does not say how.
    package func logoutRequest(carrying accessToken: String) -> WireRequest? {
        logout.map { path in
            WireRequest(method: "POST", path: path, headers: [WireRequest.Header("Accept", "application/json")])
                .authorized(by: accessToken, at: tokenPlace)
        }
    }
}

extension UpstreamPlan.Account {
    /// Asks for the identity that a token belongs to.
    package var request: WireRequest { .get(path) }
}

extension UpstreamPlan.Refresh {
    /// Exchanges a refresh token for a new access token.
    package func request(with refreshToken: String) -> WireRequest {
        let body = JSONText.object(members: send.map { [(key: $0, value: JSONText.string(refreshToken))] } ?? [])
        return .post(path, body, secrets: [refreshToken], secretMembers: tokenMembers)
    }

    /// Exchanges an access token, which the request carries like any other.
    package func request(carrying accessToken: String, at place: TokenPlace) -> WireRequest {
        var request = WireRequest(
            method: "POST", path: path, headers: [WireRequest.Header("Accept", "application/json")])
        request.secretMembers = tokenMembers
        return request.authorized(by: accessToken, at: place)
    }

    /// This step of a sign-in. `known` holds the answers to all questions so far and the values kept from responses.
    /// All texts among them are secret: a mailed code is as good as a password.
    package func request(for step: LoginStep, with known: [String: JSONText]) -> WireRequest {
        let names = step.send + step.questions.map(\.name)
        let body = JSONText.object(members: names.compactMap { name in known[name].map { (key: name, value: $0) } })
        return .post(step.path, body, secrets: known.values.compactMap(\.string), secretMembers: tokenMembers)
    }

    /// The names of the members that hold tokens.
    private var tokenMembers: Set<String> {
        [token, refreshToken].compactMap(\.self).lastNames.union(send.map { [$0] } ?? [])
    }
}

internal import EntitySchema
internal import JSONText

/// What an answer to credentials, or to a refresh token, says about them: that decides how soon they are sent again.
extension HTTPCaller {
    private static let refusals = [400, 401, 403, 422]

    /// The tokens of the answer to credentials, or to a refresh token. Throws `.unauthorized` only when the upstream refused
    /// these, and `.malformed` for an answer that is neither that nor a token; `explained` says for a person what follows.
    func tokens(
        for request: WireRequest, at places: TokenAnswer, explained: (UpstreamError) -> UpstreamError
    ) async throws(UpstreamError) -> Tokens {
        let response = try await send(request)
        if let failure = credentialFailure(response, to: request) { throw explained(failure) }
        guard let answer = try? json(response, request.path), let tokens = places.tokens(in: answer, at: now()) else {
            throw explained(missingToken(in: response, to: request, at: places.token))
        }
        return tokens
    }

    /// Nil for success. `.unauthorized` only if the upstream refused the credentials. `.throttled` and `.unclear` are as
    /// they are; everything else, such as a redirect or a 404, says nothing about the credentials and is `.malformed`.
    private func credentialFailure(_ response: HTTPResponse, to request: WireRequest) -> UpstreamError? {
        guard let failure = failure(response, to: request) else { return nil }
        switch failure {
        case .throttled, .unclear: return failure
        default:
            return refusesCredentials(response) ? .unauthorized(failure.message) : .malformed(failure.message)
        }
    }

    /// For a 2xx answer without a token. It quotes the upstream, but nothing that could be a token in another place.
    private func missingToken(in response: HTTPResponse, to request: WireRequest, at place: Place) -> UpstreamError {
        let call = request.shownCall
        let found = response.json.flatMap { place.value(in: $0)?.string }
        let isLong = found.map { !Tokens.isStorable($0) } ?? false
        let lack = isLong ? "with a token of more than \(Tokens.longest) bytes" : "without a token"
        let text = "\(call) answered \(response.status) \(lack) at \(place.description)"
        return .malformed(text + words(of: response)).withoutSecrets(request.secrets)
    }

    private func refusesCredentials(_ response: HTTPResponse) -> Bool {
        if let rule = answers.rule(for: response) { return rule.means == .refused || rule.means == .signedOut }
        let isGateway = response.barsMarkup && response.json == nil && response.isMarkup
        return Self.refusals.contains(response.status) && !isGateway
    }

    private static let longestQuote = 200
    /// Tokens are longer than words.
    private static let longestWord = 24

    private func words(of response: HTTPResponse) -> String {
        let text: String
        if let body = response.json {
            text = ErrorText.messages(in: body)
        } else if let first = response.text.first(where: { $0 > UInt8(ascii: " ") }) {
            guard first != UInt8(ascii: "{"), first != UInt8(ascii: "[") else {
                return " (JSON that is cut off or not valid)"
            }
            text = String(decoding: response.text.prefix(2000), as: UTF8.self)
        } else {
            return " (an empty answer)"
        }
        let words = text.split(whereSeparator: \.isWhitespace).map { $0.count <= Self.longestWord ? String($0) : "…" }
        guard words.count > 1 || response.json != nil, !words.isEmpty else { return " (\(response.shownType))" }
        return " (\(response.shownType)): \(ErrorText.shortened(words.joined(separator: " "), to: Self.longestQuote))"
    }
}

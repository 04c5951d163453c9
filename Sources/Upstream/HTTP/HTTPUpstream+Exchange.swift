internal import EntitySchema
internal import Synchronization

/// One request and its answer, with a token that counts and is of the right account.
extension HTTPUpstream {
    /// Throws for every status but 2xx. Never sends a token of another account than the one that `account` last
    /// returned: the caller has chosen its cache by that.
    ///
    /// `isDoubtful` says whether a 2xx answer looks as one does to a caller without a token: empty, or without what it
    /// should have. `accepts` says which other answers are returned as they are.
    func send(
        _ request: WireRequest, transfer: Transfer = Transfer(),
        isDoubtful: (HTTPResponse) -> Bool = { _ in false }, accepts: (HTTPResponse) -> Bool = { _ in false }
    ) async throws(UpstreamError) -> HTTPResponse {
        try await sendNotingSecrets(request, transfer, isDoubtful: isDoubtful, accepts: accepts).response
    }

    /// The same; also returns the token that was sent, which no error may repeat.
    func sendNotingSecrets(
        _ request: WireRequest, _ transfer: Transfer = Transfer(),
        isDoubtful: (HTTPResponse) -> Bool = { _ in false }, accepts: (HTTPResponse) -> Bool
    ) async throws(UpstreamError) -> (response: HTTPResponse, secrets: [String]) {
        let carried = try await currentToken()
        let (response, used) = try await exchange(
            request, token: carried, ofSameAccount: true, transfer: transfer, isDoubtful: isDoubtful, accepts: accepts)
        return (response, secrets(of: carried, used))
    }

    /// A request whose token no longer counts is sent once more if there is another token; `ofSameAccount`: only with one of
    /// the account that is known. Also returns the token used last.
    func exchange(
        _ request: WireRequest, token carried: String?, ofSameAccount: Bool = false, transfer: Transfer = Transfer(),
        isDoubtful: (HTTPResponse) -> Bool, accepts: (HTTPResponse) -> Bool = { _ in false }
    ) async throws(UpstreamError) -> (response: HTTPResponse, token: String?) {
        var used = carried
        var response = try await caller.send(request, token: used, transfer: transfer)
        var objection = try await objection(to: used, after: response, request, isDoubtful)
        let isRefused = caller.refusesToken(response)
        if let token, objection != nil || isRefused, try await token.renew(refused: used) {
            used = ofSameAccount ? try await currentToken() : try await token.current()
            response.share?.release()
            response = try await caller.send(request, token: used, transfer: transfer)
            if isRefused, caller.failure(response, to: request) == nil { await token.noteSuccess(of: used) }
            // A check that objects to a new token may be wrong itself. A change that may be applied is unclear then, and
            // looked up: as one with a refused token it would be sent again and again.
            let mayBeApplied = !request.isReading && caller.failure(response, to: request) == nil
            objection = mayBeApplied ? nil : try await self.objection(to: used, after: response, request, isDoubtful)
        }
        var request = request
        request.secrets += secrets(of: carried, used)
        let refusal = objection.map { UpstreamError.unauthorized($0).withoutSecrets(request.secrets) }
        if let failure = refusal ?? (accepts(response) ? nil : error(in: response, to: request)) {
            throw suspectingToken(
                failure.advising(token == nil && plan.headerSecrets.isEmpty ? Self.noToken : token?.remedy))
        }
        return (response, used)
    }

    private static let noToken = "no token is configured: set upstream.token_file"

    /// A cache answers 503 with `Retry-After` also when the upstream took a change and then broke off. Only the upstream's
    /// own JSON, or a rule of the schema, says that nothing was applied.
    private func error(in response: HTTPResponse, to request: WireRequest) -> UpstreamError? {
        let failure = caller.failure(response, to: request)
        guard case .throttled(_, let message) = failure, response.status == 503, !request.isReading,
            response.json == nil, plan.answers.rule(for: response) == nil
        else { return failure }
        return .barred(status: 503, "\(message); that is not JSON, so a gateway may have answered")
    }

    /// Why the token that a request carried no longer counts; nil if it does, or if nothing suggests otherwise.
    private func objection(
        to token: String?, after response: HTTPResponse, _ request: WireRequest, _ isDoubtful: (HTTPResponse) -> Bool
    ) async throws(UpstreamError) -> String? {
        guard let verifier, !caller.refusesToken(response) else { return nil }
        switch caller.failure(response, to: request) {
        case nil where !isDoubtful(response): return nil
        // An error of the check, such as `.offline`, would say that a change was not sent that may be applied.
        case nil where !request.isReading:
            do throws(UpstreamError) {
                return try await verifier.objection(to: token, by: caller)
            } catch {
                return nil
            }
        case nil, .barred, .gone, .refused: return try await verifier.objection(to: token, by: caller)
        default: return nil
        }
    }

    func secrets(of tokens: String?...) -> [String] {
        tokens.compactMap(\.self).flatMap(plan.tokenPlace.secrets) + caller.headerSecrets
    }

    /// What is said about an answer that came with a good status may quote it as well.
    func withoutSecrets<Value>(
        _ secrets: [String], _ read: () throws(UpstreamError) -> Value
    ) throws(UpstreamError) -> Value {
        do throws(UpstreamError) {
            return try read()
        } catch {
            throw suspectingToken(error.withoutSecrets(secrets))
        }
    }

    /// The same error, which then also says what the schema needs if it means an expired token: without a check, only a 401 shows
    /// one to a daemon that signs in by itself.
    func suspectingToken(_ error: UpstreamError) -> UpstreamError {
        guard plan.session != nil, verifier == nil, case .barred(let status, let message, let isPage) = error,
            isPage || status < 400 || status == 403
        else { return error }
        return error.saying(
            "\(message); if this is how it answers an expired token, set upstream.auth.check in the schema")
    }

    /// The token to send, of the account that is known; nil when there is none.
    func currentToken() async throws(UpstreamError) -> String? {
        let carried = try await token?.current()
        try await requireSameAccount(carried)
        return carried
    }

    /// Asks for the account of a token that was not seen before, or `again`.
    func requireSameAccount(_ token: String?, again: Bool = false) async throws(UpstreamError) {
        guard let account = plan.account, let known = identity.last, again || known.token != token else { return }
        let request = account.request.authorized(by: token, at: plan.tokenPlace)
        let response = try await caller.send(request)
        if let failure = caller.failure(response, to: request) { throw failure }
        try withoutSecrets(secrets(of: token)) { () throws(UpstreamError) in
            let id = try signedIn(response, account).id
            guard id == known.account else {
                throw .unauthorized("the token now belongs to another account (\(id)); nothing else is sent with it")
            }
        }
        identity.note(account: known.account, of: token)
    }
}

/// The last token that the upstream was asked about, and its account.
final class IdentityMemory: Sendable {
    private let value = Mutex<(token: String?, account: String)?>(nil)

    var last: (token: String?, account: String)? { value.withLock { $0 } }

    func note(account: String, of token: String?) { value.withLock { $0 = (token, account) } }
}

extension UpstreamError {
    /// The same error with what you can do about the token.
    fileprivate func advising(_ remedy: String?) -> UpstreamError {
        guard case .unauthorized(let message) = self, let remedy else { return self }
        return .unauthorized("\(message); \(remedy)")
    }
}

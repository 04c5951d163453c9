internal import EntitySchema
internal import JSONText

/// Asks the schema's `auth.check` whether a token still counts.
///
/// Requests that wonder at the same time share one check. It must begin after their answers came: a token that counted
/// before says nothing about them.
actor TokenVerifier {
    private typealias Outcome = Result<String?, UpstreamError>

    private let check: TokenCheck
    private var waiting: [String?: Task<Outcome, Never>] = [:]
    private var running: [String?: Task<Outcome, Never>] = [:]

    init(_ check: TokenCheck) {
        self.check = check
    }

    /// Nil when the token counts, else why not. Throws when the upstream cannot say.
    func objection(to token: String?, by caller: HTTPCaller) async throws(UpstreamError) -> String? {
        if let shared = waiting[token] { return try await shared.value.get() }
        let before = running[token]
        let task = Task {
            _ = await before?.value
            running[token] = waiting.removeValue(forKey: token)
            let outcome = await ask(token, caller)
            running[token] = nil
            return outcome
        }
        waiting[token] = task
        return try await task.value.get()
    }

    private func ask(_ token: String?, _ caller: HTTPCaller) async -> Outcome {
        let request = check.request.authorized(by: token, at: caller.tokenPlace)
        do throws(UpstreamError) {
            return .success(try objection(in: try await caller.send(request), to: request, caller))
        } catch {
            return .failure(error)
        }
    }

    private func objection(
        in response: HTTPResponse, to request: WireRequest, _ caller: HTTPCaller
    ) throws(UpstreamError) -> String? {
        let call = "\(check.method) \(check.path)"
        if let failure = caller.failure(response, to: request) {
            switch failure {
            case .unauthorized, .barred, .gone, .refused:
                return "\(call) shows that the token no longer counts: \(failure.message)"
            case .offline, .unclear, .locked, .throttled, .changed, .another, .malformed, .held, .cancelled:
                throw failure
            }
        }
        guard let account = check.account else { return response.isMarkup ? "\(call) answered a web page" : nil }
        do throws(UpstreamError) {
            let named = account.value(in: try caller.json(response, check.path)).map(\.plain) ?? ""
            guard named.isEmpty else { return nil }
            return "\(call) names no account at \(account.description), so the token no longer counts"
        } catch {
            guard case .barred(_, let message, _) = error else { throw error.withoutSecrets(request.secrets) }
            return message
        }
    }
}

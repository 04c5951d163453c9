internal import EntitySchema
internal import JSONText

/// Exchanges a token for the next one, as the schema's `auth.refresh` says.
struct TokenRefresh: Sendable {
    private let plan: UpstreamPlan.Refresh
    private let caller: HTTPCaller
    private let clock: ServerClock?
    /// Those that the call sends beside the token.
    private let secrets: SecretFiles
    /// The command that signs in, for messages.
    private let login: String

    init(plan: UpstreamPlan.Refresh, caller: HTTPCaller, secrets: SecretFiles?, login: String) {
        self.plan = plan
        self.login = login
        self.caller = plan.call?.isElsewhere == true ? caller.elsewhere : caller
        self.secrets = secrets ?? SecretFiles(paths: [:])
        clock = caller.clock
    }

    /// Whether the access token itself is what it sends, so that it must still count.
    var sendsAccess: Bool { plan.send == nil }

    func isPossible(with tokens: Tokens) -> Bool { sendsAccess || tokens.refresh != nil }

    /// What it would send of these tokens.
    func proof(in tokens: Tokens) -> String { sendsAccess ? tokens.access : tokens.refresh ?? "" }

    /// The tokens that the upstream returns for `old`. `access` may be repeated by no error either; `HTTPCaller.tokens` says
    /// which errors there are.
    func tokens(for old: Tokens, beside access: String?) async throws(UpstreamError) -> Tokens {
        var request = try self.request(for: old)
        if let access { request.secrets.append(access) }
        var fresh = try await caller.tokens(for: request, at: TokenAnswer(plan, clock), explained: explained)
        fresh.refresh = fresh.refresh ?? old.refresh
        return fresh
    }

    private func request(for old: Tokens) throws(UpstreamError) -> WireRequest {
        if sendsAccess { return plan.request(carrying: old.access, at: caller.tokenPlace) }
        guard let call = plan.call else { return plan.request(with: old.refresh ?? "") }
        do {
            return call.request(secrets: try secrets.values(of: call.secretNames), refreshToken: old.refresh)
        } catch {
            throw .unauthorized(error.message)
        }
    }

    private func explained(_ failure: UpstreamError) -> UpstreamError {
        switch failure {
        case .unauthorized(let message):
            .unauthorized("the sign-in has ended (\(message)); run \(login)")
        case .malformed(let message):
            .malformed(
                "the token refresh failed: \(message); if it goes on, correct upstream.auth.refresh in the schema")
        default: failure
        }
    }
}

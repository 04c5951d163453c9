internal import EntitySchema
internal import JSONText

/// Signs in with stored credentials, as the schema's `auth.session` says.
struct StoredSignIn: Sendable {
    let call: SignInCall
    let secrets: SecretFiles
    private let caller: HTTPCaller
    private let clock: ServerClock?

    init(call: SignInCall, secrets: SecretFiles, caller: HTTPCaller) {
        self.call = call
        self.secrets = secrets
        self.caller = call.isElsewhere ? caller.elsewhere : caller
        clock = caller.clock
    }

    /// The request with the credentials that are stored now.
    func request() throws(UpstreamError) -> WireRequest {
        do {
            return call.request(secrets: try secrets.values(of: call.secretNames))
        } catch {
            throw .unauthorized(error.message)
        }
    }

    /// No error has a credential in it; `HTTPCaller.tokens` says which there are.
    func tokens(_ request: WireRequest) async throws(UpstreamError) -> Tokens {
        try await caller.tokens(for: request, at: TokenAnswer(call, clock), explained: explained)
    }

    private func explained(_ failure: UpstreamError) -> UpstreamError {
        switch failure {
        case .unauthorized(let message):
            .unauthorized("the upstream refused the stored credentials (\(message)); \(remedy)")
        case .malformed(let message):
            .malformed("the sign-in failed: \(message); if it goes on, correct \(call.key) in the schema")
        default: failure
        }
    }

    private var remedy: String {
        "correct " + call.secretNames.map { "upstream.secrets.\($0)" }.joined(separator: ", ")
            + " or the settings, or \(call.key) in the schema"
    }
}

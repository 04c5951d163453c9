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

    /// Throws `.unauthorized` only when the upstream refused the credentials, and `.malformed` for an answer that is
    /// neither that nor a token. No error has a credential in it.
    func tokens(_ request: WireRequest) async throws(UpstreamError) -> Tokens {
        let response = try await caller.send(request)
        if let failure = caller.credentialFailure(response, to: request) { throw explained(failure) }
        var places = TokenAnswer(call)
        places.offset = clock?.offset ?? .zero
        guard let answer = try? caller.json(response, call.address),
            let tokens = places.tokens(in: answer, at: caller.now())
        else {
            throw explained(caller.missingToken(in: response, to: request, at: call.token))
        }
        return tokens
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

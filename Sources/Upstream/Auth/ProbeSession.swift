package import EntitySchema

/// The stored token for a look at the upstream; where that no longer counts, one from a sign-in of its own.
///
/// Writes nothing and spends no refresh token: both belong to the daemon. Signs in once at most.
package actor ProbeSession: Credentials {
    private let signIn: StoredSignIn
    private var token: String?
    private var hasSignedIn = false

    /// Nil if the schema has no session.
    package init?(
        plan: UpstreamPlan, baseURL: String?, transport: any HTTPTransport, secrets: SecretFiles, stored: Tokens?,
        now: @escaping @Sendable () -> Timestamp
    ) {
        guard let call = plan.session else { return nil }
        let caller = HTTPCaller(
            plan: plan, baseURL: baseURL, transport: transport, deadline: .seconds(10), secrets: secrets, now: now)
        signIn = StoredSignIn(call: call, secrets: secrets, caller: caller)
        token = stored.flatMap { $0.hasEnded(at: now()) ? nil : $0.access }
    }

    package func current() async throws(UpstreamError) -> String? {
        if token == nil { _ = try await renew(refused: nil) }
        return token
    }

    package func renew(refused: String?) async throws(UpstreamError) -> Bool {
        if token != refused { return true }
        guard !hasSignedIn else { return false }
        hasSignedIn = true
        do throws(UpstreamError) {
            token = try await signIn.tokens(try signIn.request()).access
        } catch {
            // The caller would take `.malformed` for a list that it cannot read.
            guard case .malformed(let message) = error else { throw error }
            throw .unauthorized(message)
        }
        return true
    }
}

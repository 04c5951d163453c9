internal import EntitySchema

/// The stored token for a look at the upstream; where that no longer counts, one from a sign-in of its own.
///
/// Writes nothing and spends no refresh token: both belong to the daemon. Signs in once at most.
package actor ProbeSession: Credentials {
    private let signIn: StoredSignIn
    private var token: String?
    private var hasSignedIn = false

    /// Nil if the schema has no session or `access` has no secrets.
    package init?(_ access: UpstreamAccess, stored: Tokens?) {
        guard let call = access.plan.session, let secrets = access.secrets else { return nil }
        signIn = StoredSignIn(
            call: call, secrets: secrets, caller: HTTPCaller(access, deadline: .seconds(10)))
        token = stored.flatMap { $0.hasEnded(at: access.now()) ? nil : $0.access }
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

internal import EntitySchema

/// Ends the sign-in that is stored: removes its file, and has the upstream revoke the token.
package struct SignOut: Sendable {
    /// What became of the tokens at the upstream.
    package enum Revocation: Sendable, Equatable {
        case done
        /// The schema has no `auth.logout`.
        case notOffered
        /// They count until they expire. The text says why.
        case failed(String)
    }

    private let plan: UpstreamPlan
    private let refresh: TokenRefresh?
    private let caller: HTTPCaller
    private let store: TokenStore

    package init(_ access: UpstreamAccess, store: TokenStore) {
        plan = access.plan
        self.store = store
        let caller = HTTPCaller(access, deadline: .seconds(10))
        self.caller = caller
        refresh = plan.refresh.map {
            TokenRefresh(plan: $0, caller: caller, secrets: access.secrets, login: store.login)
        }
    }

    /// Nil when nothing is stored. Throws when the file cannot be removed; then nothing was revoked.
    ///
    /// The file goes first, so that the daemon stops whether or not the upstream can be reached.
    package func run() async throws(TokenFileError) -> Revocation? {
        var outcome = try await end()
        // A daemon that was just renewing the token may have saved the next one. One that signs in by itself does so again.
        if outcome != nil, plan.session == nil, let again = try await end() { outcome = again }
        return outcome
    }

    private func end() async throws(TokenFileError) -> Revocation? {
        let stored: Result<Tokens?, TokenFileError>
        do throws(TokenFileError) { stored = .success(try store.load()) } catch { stored = .failure(error) }
        guard try store.remove() else { return nil }
        switch stored {
        case .failure(let error): return .failed("the stored token cannot be used: \(error.message)")
        case .success(let tokens?): return await revoke(tokens)
        case .success(nil): return .done
        }
    }

    private func revoke(_ tokens: Tokens) async -> Revocation {
        guard plan.logout != nil else { return .notOffered }
        do throws(UpstreamError) {
            try await revokeEither(tokens)
            return .done
        } catch .unauthorized {
            // Neither token counts any more.
            return .done
        } catch {
            return .failed(error.message)
        }
    }

    /// With an access token that no longer counts, nothing is revoked; the refresh token may count for longer.
    private func revokeEither(_ tokens: Tokens) async throws(UpstreamError) {
        do throws(UpstreamError) {
            try await revoke(tokens.access)
        } catch .unauthorized(let message) {
            guard let refresh, !refresh.sendsAccess, refresh.isPossible(with: tokens) else {
                throw .unauthorized(message)
            }
            try await revoke(try await refresh.tokens(for: tokens, beside: tokens.access).access)
        }
    }

    private func revoke(_ access: String) async throws(UpstreamError) {
        guard let request = plan.logoutRequest(carrying: access) else { return }
        let response = try await caller.send(request)
        if let failure = caller.failure(response, to: request) { throw failure }
    }
}

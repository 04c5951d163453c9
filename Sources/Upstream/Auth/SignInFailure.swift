/// Why a person could not sign in, by what can be done about it, each with a message for that person.
package enum SignInFailure: Sendable, Equatable {
    /// The upstream did not accept the answers.
    case refused(String)
    /// Try again later.
    case unavailable(String)
    /// The configuration or the schema is wrong.
    case misconfigured(String)

    package init(_ error: UpstreamError) {
        switch error {
        case .unauthorized(let message), .barred(_, let message, _), .refused(_, let message), .changed(_, let message):
            self = .refused("the upstream rejected the sign-in: \(message)")
        case .gone(_, let message), .another(let message), .malformed(let message):
            self = .misconfigured("\(message); check upstream.base_url and the schema's upstream.auth")
        case .offline(let message), .unclear(_, let message), .locked(_, let message), .throttled(_, let message),
            .held(let message):
            self = .unavailable("the upstream is unavailable: \(message)")
        case .cancelled: self = .unavailable("the sign-in was cancelled")
        }
    }
}

/// The source of the token that each request carries.
package protocol Credentials: Sendable {
    /// The token to send now; nil when there is none.
    func current() async throws(UpstreamError) -> String?

    /// Called when the upstream answered 401 to a request with the token `refused`. True when there is another token
    /// now, so the request is worth a second attempt. Concurrent calls share one renewal.
    func renew(refused: String?) async throws(UpstreamError) -> Bool

    /// Called when a request was answered with success for which an older token had been refused: `token` counts.
    func noteSuccess(of token: String?) async

    /// What you must do before there is a token; nil when there is one, valid or not.
    var missing: String? { get async }

    /// What you can do when the upstream refuses the token; nil if nothing but signing in again.
    var remedy: String? { get }
}

extension Credentials {
    package func noteSuccess(of token: String?) {}

    package var missing: String? { nil }

    package var remedy: String? { nil }
}

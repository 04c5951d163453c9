/// What proves to the upstream who is asking: the token that each request carries.
package protocol Credentials: Sendable {
    /// The token to send now; nil where there is none.
    func current() async throws(UpstreamError) -> String?

    /// Called when the upstream answered 401 to a request that carried `refused`. True when there is another token now,
    /// with which the request is worth a second attempt. Called by many at once, it does its work once.
    func renew(refused: String?) async throws(UpstreamError) -> Bool

    /// What a person must do before there is a token; nil where there is one, good or bad.
    var missing: String? { get async }
}

extension Credentials {
    package var missing: String? { nil }
}

/// Why a request to the upstream failed, classified by what the engine does about it.
package enum UpstreamError: Error, Sendable, Equatable {
    /// Nothing was sent. Wait until the upstream is reachable; it does not count as an attempt.
    case offline(String)
    /// Unknown whether it was applied (timeout, truncated response, 5xx). Retry later with the same key.
    case unclear(status: Int?, String)
    /// Only the target of the request is locked for a while (423, RFC 4918): nothing was applied, and the upstream
    /// works.
    case locked(status: Int, String)
    /// Send nothing to the upstream for this long.
    case throttled(Duration, String)
    /// The token is not accepted. Keep everything until there is a valid one.
    case unauthorized(String)
    /// The account, or a gateway before the upstream, is not let through: 402, 403, a redirect, a web page where JSON
    /// belongs. Nothing is counted. Whether it concerns a single change shows only when others get through.
    /// `isPage`: a page in place of an error of the upstream, which a gateway may have put there.
    case barred(status: Int, String, isPage: Bool = false)
    /// The record has changed (409, 412, 428). Read it, then try again.
    case changed(status: Int, String)
    /// The record does not exist (404, 410).
    case gone(status: Int, String)
    /// Repeating does not help; someone must correct it.
    case refused(status: Int?, String)
    /// Asked for one record, the upstream answered with another one, which says nothing about the first.
    case another(String)
    /// The response cannot be understood; nothing in it may be used.
    case malformed(String)
    /// No request may be made now; nothing was sent.
    case held(String)
    case cancelled

    /// The address has no such method (405, 501): for a read, the upstream serves no single records there.
    package var isUnknownMethod: Bool {
        if case .refused(let status, _) = self { status == 405 || status == 501 } else { false }
    }

    package var message: String {
        switch self {
        case .offline(let text), .unclear(_, let text), .locked(_, let text), .throttled(_, let text),
            .unauthorized(let text), .barred(_, let text, _), .changed(_, let text), .gone(_, let text),
            .refused(_, let text), .another(let text), .malformed(let text), .held(let text):
            text
        case .cancelled: "cancelled"
        }
    }

    /// The same error with another message.
    package func saying(_ text: String) -> UpstreamError {
        switch self {
        case .offline: .offline(text)
        case .unclear(let status, _): .unclear(status: status, text)
        case .locked(let status, _): .locked(status: status, text)
        case .throttled(let delay, _): .throttled(delay, text)
        case .unauthorized: .unauthorized(text)
        case .barred(let status, _, let isPage): .barred(status: status, text, isPage: isPage)
        case .changed(let status, _): .changed(status: status, text)
        case .gone(let status, _): .gone(status: status, text)
        case .refused(let status, _): .refused(status: status, text)
        case .another: .another(text)
        case .malformed: .malformed(text)
        case .held: .held(text)
        case .cancelled: .cancelled
        }
    }

    /// The same error with `…` for every secret that its text repeats, whole or cut off: upstreams quote what they
    /// refuse, and an error is stored, shown and logged. `SecretForm` says which ways to write a secret are found.
    ///
    /// Every request passes its errors through here before it throws them.
    package func withoutSecrets(_ secrets: [String]) -> UpstreamError {
        saying(SecretScrubber(secrets).scrubbed(message))
    }
}

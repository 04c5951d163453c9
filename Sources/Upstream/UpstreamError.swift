/// Why a request to the upstream did not do what it should, sorted by what the engine does about it.
package enum UpstreamError: Error, Sendable, Equatable {
    /// Nothing was sent: wait until the upstream can be reached, count nothing.
    case offline(String)
    /// Whether it was done is not known (time-out, cut-off answer, 5xx): the same again later, with the same key.
    case unclear(status: Int?, String)
    /// Leave the whole upstream alone for so long.
    case throttled(Duration, String)
    /// The token is not accepted: keep everything until there is a better one.
    case unauthorized(String)
    /// The record is not what it was (409, 412): look at it, then again.
    case changed(status: Int, String)
    /// The record is not there (404, 410).
    case gone(status: Int, String)
    /// No repetition will help; a person must correct it.
    case refused(status: Int?, String)
    /// The answer cannot be understood; nothing of it may be used.
    case malformed(String)
    /// Not one request may be made now; nothing was sent.
    case held(String)
    case cancelled

    package var message: String {
        switch self {
        case .offline(let text), .unclear(_, let text), .throttled(_, let text), .unauthorized(let text),
            .changed(_, let text), .gone(_, let text), .refused(_, let text), .malformed(let text), .held(let text):
            text
        case .cancelled: "cancelled"
        }
    }
}

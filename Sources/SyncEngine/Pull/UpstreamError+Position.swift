internal import EntitySchema
internal import Upstream

/// Whether an answer says that a pull cannot go on from where it was.
extension UpstreamError {
    /// True for answers of an upstream that no longer knows a page.
    var refusesPosition: Bool {
        switch self {
        case .refused, .gone, .malformed: true
        case .offline, .unclear, .locked, .throttled, .unauthorized, .barred, .changed, .held, .cancelled: false
        }
    }

    /// The same error in answer to a pull with a token, with what to do if the upstream means the token by it.
    var suspectingToken: UpstreamError {
        switch self {
        case .changed(let status, let text): .changed(status: status, text + Self.advice(status))
        case .barred(let status, let text, let isPage):
            .barred(status: status, text + Self.advice(status), isPage: isPage)
        case .unclear(.some(let status), let text): .unclear(status: status, text + Self.advice(status))
        case .locked(let status, let text): .locked(status: status, text + Self.advice(status))
        default: self
        }
    }

    private static func advice(_ status: Int) -> String {
        "; if the upstream means by this that it no longer knows the token of the last pull, add \(status) to "
            + "pull.since.expired in the schema"
    }

    /// True for answers of an upstream that no longer knows the token of a pull.
    func refuses(_ token: PullPlan.DeltaToken?) -> Bool {
        switch self {
        case .refused, .gone: true
        case .changed(let status, _), .barred(let status, _, _), .unclear(.some(let status), _), .locked(let status, _):
            token?.expired.contains(status) ?? false
        case .offline, .unclear, .throttled, .unauthorized, .malformed, .held, .cancelled: false
        }
    }
}

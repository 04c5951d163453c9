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
        guard let ambiguousStatus else { return self }
        return saying(
            "\(message); if the upstream means by this that it no longer knows the token of the last pull, add "
                + "\(ambiguousStatus) to pull.since.expired in the schema")
    }

    /// True for answers of an upstream that no longer knows the token of a pull.
    func refuses(_ token: PullPlan.DeltaToken?) -> Bool {
        switch self {
        case .refused, .gone: true
        default: ambiguousStatus.map { token?.expired.contains($0) ?? false } ?? false
        }
    }

    /// The status of an answer that only the schema can say to be about the token.
    private var ambiguousStatus: Int? {
        switch self {
        case .changed(let status, _), .barred(let status, _, _), .unclear(.some(let status), _), .locked(let status, _):
            status
        case .refused, .gone, .offline, .unclear, .throttled, .unauthorized, .malformed, .held, .cancelled: nil
        }
    }
}

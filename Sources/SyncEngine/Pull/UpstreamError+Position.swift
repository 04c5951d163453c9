internal import EntitySchema
internal import Upstream

/// Whether an answer says that a pull cannot go on from where it was.
extension UpstreamError {
    /// True for answers of an upstream that no longer knows a page.
    var refusesPosition: Bool {
        switch self {
        case .refused, .gone, .malformed: true
        case .offline, .unclear, .throttled, .unauthorized, .barred, .changed, .held, .cancelled: false
        }
    }

    /// True for answers of an upstream that no longer knows the token of a pull.
    func refuses(_ token: PullPlan.DeltaToken?) -> Bool {
        switch self {
        case .refused, .gone: true
        case .changed(let status, _), .barred(let status, _), .unclear(.some(let status), _):
            token?.expired.contains(status) ?? false
        case .offline, .unclear, .throttled, .unauthorized, .malformed, .held, .cancelled: false
        }
    }
}

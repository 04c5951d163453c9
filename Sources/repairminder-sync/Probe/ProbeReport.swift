import JSONText
import Upstream

/// What reading a list has shown.
struct ProbeReport {
    var findings: [Finding]
    /// Those of the first page; none of a list of deletions.
    var records: [JSONText] = []
    /// What failed concerns the upstream or the token, and not this list.
    var concernsAll = false
    /// The upstream refused the account, or its access to this list.
    var isBarred = false
}

extension ProbeReport {
    /// Of a list that cannot be read.
    init(_ finding: Finding, of error: UpstreamError) {
        findings = [finding]
        if case .barred = error { isBarred = true }
        concernsAll =
            switch error {
            case .offline, .held, .throttled, .unauthorized, .cancelled, .unclear(nil, _): true
            case .unclear, .locked, .barred, .changed, .gone, .refused, .another, .malformed: false
            }
    }
}

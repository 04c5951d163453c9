internal import EntitySchema
internal import Upstream

/// What a failed request says: about the upstream, about this request, about a record, and about a list.
extension UpstreamError {
    /// True when every other request would fail in the same way right now.
    var concernsWholeUpstream: Bool {
        switch self {
        case .offline, .held, .throttled, .unauthorized, .cancelled: true
        case .unclear, .locked, .barred, .changed, .gone, .refused, .another, .malformed: false
        }
    }

    // MARK: The request

    /// The HTTP status of the answer; nil if there was none, or if the error does not depend on it.
    var status: Int? {
        switch self {
        case .unclear(let status, _), .refused(let status, _): status
        case .locked(let status, _), .barred(let status, _, _), .changed(let status, _), .gone(let status, _): status
        case .unauthorized: 401
        case .offline, .throttled, .another, .malformed, .held, .cancelled: nil
        }
    }

    /// Whether the upstream, or a gateway before it, says that it applied nothing of the request.
    ///
    /// Programs answer a form that they took with 302 or 303; only 307 and 308 say that the request itself must be made
    /// elsewhere. A gateway that answers 408 may have passed the request on.
    var isRefusal: Bool {
        switch self {
        case .locked, .throttled, .unauthorized, .refused, .another: true
        case .barred(let status, _, _):
            [307, 308].contains(status) || (400..<500).contains(status) && ![408, 425].contains(status)
        case .unclear, .offline, .held, .cancelled, .changed, .gone, .malformed: false
        }
    }

    // MARK: A record

    /// Whether the upstream may answer so for ever if it is asked for this record. 301 and 308 are answers about a
    /// record that was merged into another one.
    var mayConcernRecord: Bool {
        switch self {
        case .barred(let status, _, _): [301, 308, 403].contains(status)
        case .refused, .another: true
        default: false
        }
    }

    /// Whether the same may be about every record: another one shows that. Some answer 401 for one that the account may not see.
    var mayConcernAll: Bool { if case .unauthorized = self { true } else { isServerFailure } }

    /// Whether the upstream has failed at this request, as some do for a key that they do not have.
    var isServerFailure: Bool { if case .unclear(500, _) = self { true } else { false } }

    // MARK: A list

    /// Whether the upstream may no longer know the page that was asked for, so that a pull must begin again.
    ///
    /// `again`: the pull before failed too, and the position is old. If the upstream names each page itself, also 403 and 500 may
    /// mean that it forgot one.
    func refusesPosition(of list: ListPlan, again: Bool) -> Bool {
        switch self {
        case .refused, .gone, .another, .malformed, .changed: true
        case .unclear, .barred: again && list.givesPositions && (isServerFailure || mayConcernRecord)
        case .offline, .locked, .throttled, .unauthorized, .held, .cancelled: false
        }
    }

    /// Whether the upstream no longer knows the token of the last pull.
    func refuses(_ token: PullPlan.DeltaToken?) -> Bool {
        switch self {
        case .refused, .gone: true
        default: ambiguousStatus.map { token?.expired.contains($0) ?? false } ?? false
        }
    }

    /// The same error in answer to a pull with a token, with what to do if the upstream means the token by it.
    var suspectingToken: UpstreamError {
        guard let ambiguousStatus else { return self }
        return saying(
            "\(message); if the upstream means by this that it no longer knows the token of the last pull, add "
                + "\(ambiguousStatus) to pull.since.expired in the schema")
    }

    /// The status of an answer that only the schema can say to be about the token.
    private var ambiguousStatus: Int? {
        switch self {
        case .changed, .barred, .unclear, .locked: status
        case .refused, .gone, .another, .offline, .throttled, .unauthorized, .malformed, .held, .cancelled: nil
        }
    }
}

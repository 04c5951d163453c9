internal import Upstream

/// The outcome of asking the upstream for one record, sorted by the answer to the caller.
package enum RefreshOutcome: Sendable, Equatable {
    /// The cache has the upstream's current version of the record.
    case stored
    /// The upstream has no such record, and the cache no longer has one either.
    case absent
    /// Nothing was asked: the record was created or deleted locally, and the upstream does not know yet.
    case local
    /// The upstream does not serve single records of this entity.
    case unsupported
    /// The upstream cannot be asked now, or does not say; the text says why.
    case unavailable(String)
    /// The upstream answered with a failure of its own, or with something that cannot be used.
    case failed(String)
    /// The upstream did not answer in time; once it does, the cache has the record.
    case timedOut
    /// Too many records are being asked for.
    case busy

    init(_ error: UpstreamError) {
        switch error {
        case .unclear(_, let message), .malformed(let message): self = .failed(message)
        case .offline, .locked, .throttled, .unauthorized, .barred, .changed, .gone, .refused, .another, .held,
            .cancelled:
            self = .unavailable(error.message)
        }
    }
}

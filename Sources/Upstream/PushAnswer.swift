/// What the upstream answered to a change that it accepted, or failed to apply before.
package enum PushAnswer: Sendable, Equatable {
    /// The record as it now is.
    case record(RemoteRecord)
    /// Accepted without the record. `location` is the address of the record in the answer's `Location`, if it has one. `isSilent`:
    /// the answer was empty, `null` or `{}`, although its status promises content (RFC 9110, 15.3.1).
    case accepted(location: String? = nil, isSilent: Bool = false)
    /// It repeats its answer to an earlier attempt with the same idempotency key, a failure, or refuses the repeat: under this
    /// key it does nothing more. Whether that attempt was applied is not known.
    case repeatedFailure(status: Int, String)

    package var record: RemoteRecord? {
        if case .record(let record) = self { record } else { nil }
    }
}

/// What the upstream answered to one change of a batch.
package typealias BatchResult = Result<PushAnswer, UpstreamError>

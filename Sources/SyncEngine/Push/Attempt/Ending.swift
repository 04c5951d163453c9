internal import CacheStore
internal import Upstream

/// How an attempt of a change ends, or the reading in its place.
///
/// The steps of an attempt only find that out; `Attempt.finish` alone stores it.
struct Ending {
    var outcome: PushOutcome
    /// The failure that led to it, which may concern every other request too.
    var error: UpstreamError?
    /// Nothing was sent, or the upstream answered that it applied nothing, as `error` may say too.
    var appliedNothing: Bool

    init(_ outcome: PushOutcome, after error: UpstreamError? = nil, appliedNothing: Bool = false) {
        (self.outcome, self.error, self.appliedNothing) = (outcome, error, appliedNothing)
    }
}

/// What the reading before an attempt leaves of a change: the change as it is to be sent, or how it ends without that.
struct Prepared {
    var change: OutboxChange
    /// Nil if the change is to be sent.
    var ending: Ending?
    /// Nothing is sent, and the last attempt is the one before.
    var isLookUp: Bool

    /// `isAttempt`: the ending counts as that of a further attempt.
    init(_ change: OutboxChange, _ ending: Ending? = nil, isAttempt: Bool = false) {
        (self.change, self.ending, isLookUp) = (change, ending, ending != nil && !isAttempt)
    }
}

extension PushFailure {
    init(_ errorClass: ErrorClass, _ error: UpstreamError) {
        self.init(errorClass, status: error.status, message: error.message)
    }

    func classified(as errorClass: ErrorClass) -> PushFailure {
        PushFailure(errorClass, status: status, message: message)
    }

    /// The same failure with more words for a person.
    func adding(_ words: String) -> PushFailure {
        PushFailure(errorClass, status: status, message: "\(message); \(words)")
    }
}

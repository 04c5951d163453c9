package import EntitySchema
package import JSONText

/// The outcome of an attempt.
package enum PushOutcome: Sendable, Equatable {
    /// The upstream accepted it; `record` is its answer, nil when the answer had none.
    ///
    /// `appliedAt`: the change time that the answer had, if the answer showed the change and `record` was read after it.
    case acknowledged(
        record: JSONText?, version: String? = nil, view: RecordView = .answer, appliedAt: Timestamp? = nil)
    /// A reading found the change applied, by an earlier attempt or by others. If the record of a creation is another creation's
    /// by now, this one has failed so far and is looked up again at `at`.
    case found(record: JSONText, version: String?, view: RecordView, otherwise: PushFailure, at: Timestamp)
    /// The upstream accepted it, but has no such record when asked; `record` is its answer to the change. The record
    /// may have been deleted since, or the upstream may be behind.
    case vanished(record: JSONText?)
    /// The record no longer exists: a conflict.
    case gone(PushFailure)
    /// Not a byte was sent: ready again, as if it had not been tried.
    case notSent
    /// Retried at `at`; `counted` says whether the attempt counts towards the limit.
    case waiting(PushFailure, at: Timestamp, counted: Bool)
    /// Failed permanently, until a user acts.
    case failed(PushFailure)
}

/// Why an attempt did not end a change.
package struct PushFailure: Error, Sendable, Equatable {
    package var errorClass: ErrorClass
    package var status: Int?
    package var message: String

    package init(_ errorClass: ErrorClass, status: Int? = nil, message: String) {
        self.errorClass = errorClass
        self.status = status
        self.message = message
    }
}

/// How far the changes of one write have come.
package enum PushProgress: Sendable, Equatable {
    /// The upstream has all of them.
    case confirmed
    /// On its way; `position` counts from 1 at the head of the queue.
    case pending(position: Int)
    /// Failed permanently, until a user acts.
    case failed
    /// Waits for a change that failed or has an open conflict.
    case blocked
    /// A user has to decide, or the server's side has won.
    case conflict
    /// Removed from the queue without having been sent.
    case discarded
}

/// How many changes are in the queue.
package struct PendingCount: Sendable, Equatable {
    /// On their way: queued, uploading, waiting, blocked.
    package var pending: Int
    /// Failed permanently, until a user acts.
    package var failed: Int
}

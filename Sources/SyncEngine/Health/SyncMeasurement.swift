internal import CacheStore

/// Something that the engine did and how long it took, for whoever keeps count.
package enum SyncMeasurement: Sendable, Equatable {
    package enum PushOutcome: String, Sendable, CaseIterable {
        /// The upstream has the change.
        case acknowledged
        /// It did not come to it: offline, or held back by the upstream. Not counted against the change.
        case postponed
        /// It is tried again.
        case retry
        /// Given up until a person acts.
        case failed
        /// The record is not there any more; the entity's policy has decided.
        case gone
    }

    package enum PullOutcome: String, Sendable, CaseIterable {
        case completed, failed
        /// Cut off by what concerns the whole upstream.
        case interrupted
    }

    /// One attempt to send a change, settled.
    case push(entity: String, PushOutcome, duration: Duration)
    /// One entity's pull.
    case pull(entity: String, PullOutcome, duration: Duration)
    /// What a pull brought.
    case pulled(entity: String, written: Int, deleted: Int)
}

extension SyncMeasurement.PushOutcome {
    init(_ outcome: PushOutcome) {
        self =
            switch outcome {
            case .acknowledged, .vanished: .acknowledged
            case .notSent: .postponed
            case .waiting(_, _, let counted): counted ? .retry : .postponed
            case .failed: .failed
            case .gone: .gone
            }
    }
}

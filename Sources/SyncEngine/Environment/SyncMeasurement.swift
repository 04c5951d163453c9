internal import CacheStore

/// A piece of work that the engine did and how long it took, for the metrics.
package enum SyncMeasurement: Sendable, Equatable {
    package enum PushOutcome: String, Sendable, CaseIterable {
        /// The upstream has the change.
        case acknowledged
        /// Nothing was decided: offline, or the upstream asked to wait. Not counted against the change.
        case postponed
        /// The upstream let no change of the account through. Not counted either.
        case barred
        /// The change will be retried.
        case retry
        /// Failed permanently, until a person acts.
        case failed
        /// The record no longer exists; the entity's policy has decided.
        case gone
    }

    package enum PullOutcome: String, Sendable, CaseIterable {
        case completed, failed
        /// Stopped by a problem of the whole upstream.
        case interrupted
    }

    package enum SignalOutcome: String, Sendable, CaseIterable {
        /// It causes a read.
        case accepted
        /// What it names waits to be read anyway.
        case joined
        /// It names no entity of the schema.
        case unknown
        /// It was not signed, or wrongly.
        case refused
    }

    case signal(source: String, SignalOutcome)
    /// One attempt to send a change.
    case push(entity: String, PushOutcome, duration: Duration)
    /// One entity's pull.
    case pull(entity: String, PullOutcome, duration: Duration)
    /// What a pull brought.
    case pulled(entity: String, written: Int, deleted: Int)
    /// One sync, whatever its outcome.
    case sync(duration: Duration)
    /// The upstream can be reached from now on, or no longer.
    case reachability(Bool)
}

extension SyncMeasurement.PushOutcome {
    init(_ outcome: PushOutcome) {
        self =
            switch outcome {
            case .acknowledged, .found, .vanished: .acknowledged
            case .notSent: .postponed
            case .waiting(_, _, true): .retry
            case .waiting(let failure, _, false): failure.errorClass == .barred ? .barred : .postponed
            case .failed: .failed
            case .gone: .gone
            }
    }
}

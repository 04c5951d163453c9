internal import EntitySchema

/// The state of a queued change, as `sync_outbox.state` stores it.
///
/// Acknowledged, discarded and merged changes leave the queue and have no state.
enum OutboxState: String, CaseIterable, Sendable {
    /// Ready to be sent.
    case queued
    /// An attempt is under way.
    case uploading
    /// Retried at `next_attempt_at`.
    case waiting
    /// Failed permanently: not retried until a user acts.
    case failed

    /// The value as an SQL literal.
    var sql: String {
        switch self {
        case .queued: "'queued'"
        case .uploading: "'uploading'"
        case .waiting: "'waiting'"
        case .failed: "'failed'"
        }
    }

    /// What moves a change from one state to another. `OutboxTable` has one function for each.
    enum Transition: CaseIterable {
        /// An attempt begins.
        case begin
        /// An attempt ended before a byte was sent.
        case takeBack
        /// The process, or the write of the outcome, was cut off during an attempt.
        case recover
        /// An attempt failed; the change is retried later.
        case postpone
        /// An attempt failed permanently.
        case fail
        /// An attempt found that the server no longer has the record.
        case requeue
        /// A user retries the change.
        case retry
        /// A user edits the change.
        case edit
        /// The change creates its record again, which the server has deleted.
        case recreate
        /// The creation of a record that the server had deleted becomes an edit, since the record is there again.
        case revive

        /// The state machine: the states in which each transition is allowed, and the state that it leads to.
        var rule: (from: [OutboxState], to: OutboxState) {
            switch self {
            case .begin: ([.queued, .waiting], .uploading)
            case .takeBack: ([.uploading], .queued)
            case .recover: ([.uploading], .queued)
            case .postpone: ([.uploading], .waiting)
            case .fail: ([.uploading], .failed)
            case .requeue: ([.uploading], .queued)
            case .retry: ([.waiting, .failed], .queued)
            case .edit: ([.queued, .waiting, .failed], .queued)
            case .recreate: ([.queued, .waiting, .failed], .queued)
            case .revive: ([.failed], .queued)
            }
        }

        /// For the SET clause of an UPDATE.
        var assignment: String { "state = \(rule.to.sql)" }

        /// For the WHERE clause of an UPDATE.
        var condition: String { "state IN (\(rule.from.map(\.sql).joined(separator: ", ")))" }
    }
}

extension ContentState {
    /// The state of an upload whose change is in the queue.
    init(_ state: OutboxState) {
        switch state {
        case .queued, .waiting: self = .queued
        case .uploading: self = .uploading
        case .failed: self = .failed
        }
    }
}

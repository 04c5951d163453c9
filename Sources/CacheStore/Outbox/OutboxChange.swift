package import EntitySchema
package import JSONText

/// A queued change that is ready to be sent, with all that sending it needs.
package struct OutboxChange: Sendable, Equatable {
    package var id: Int64
    package var entity: String
    package var key: String
    package var operation: Operation
    /// The fields that change, secrets in the clear.
    package var body: JSONText
    /// The same as the queue has it, its secrets sealed: tells whether the change is still the one that was read.
    package var storedBody: JSONText
    /// Secret fields that change and that cannot be opened: without them the change must not be sent.
    package var unreadable: [String]
    /// What the record's secrets say, so that nothing repeats it.
    package var secrets: [String]
    /// The whole record as it is here, without its secrets, for the holes of a path.
    package var record: JSONText
    package var idempotencyKey: String
    /// Failed attempts so far that count towards giving up.
    package var attemptCount: Int
    /// Attempts so far that may have reached the upstream.
    package var tried: Int
    /// What the server calls the version that the change was made on; nil where it is not known.
    package var version: String?
    package var createdAt: Timestamp
    /// Set where it changes the record's content and none of its fields.
    package var content: ContentChange?

    package var isTried: Bool { tried > 0 }

    /// What is sent for it; nil when the schema has no way to.
    package func request(of entity: Entity) -> PushRequest? {
        var request =
            switch content {
            case nil: entity.request(for: operation, record: record, body: body, version: version)
            case .removal: entity.request(for: nil, record: record)
            case .upload(let content): entity.request(for: content, record: record)
            }
        request?.secrets = secrets
        return request
    }
}

/// Changes of the two kinds do not wait for each other's turn: pictures are large and slow.
package enum PushLane: Sendable {
    case fields, content

    var sql: String { self == .fields ? "content IS NULL" : "content IS NOT NULL" }
}

/// What became of an attempt, as the queue sees it.
package enum PushOutcome: Sendable, Equatable {
    /// The upstream has it; `record` is what it answered, nil when it answered none.
    case acknowledged(record: JSONText?, version: String? = nil)
    /// The upstream has it, and has deleted the record since; `record` is what it answered.
    case vanished(record: JSONText?)
    /// The record is not there any more: a conflict.
    case gone(PushFailure)
    /// Not one byte was sent: ready again, as if nothing had been tried.
    case notSent
    /// To be tried again at `at`; `counted` says whether towards giving up.
    case waiting(PushFailure, at: Timestamp, counted: Bool)
    /// Given up until a person acts.
    case failed(PushFailure)
}

package struct PushFailure: Error, Sendable, Equatable {
    /// One word that scripts can tell apart: `timeout`, `server`, `refused`, …
    package var kind: String
    package var status: Int?
    package var message: String

    package init(kind: String, status: Int? = nil, message: String) {
        self.kind = kind
        self.status = status
        self.message = message
    }
}

/// How far the upstream is with what one write queued.
package enum PushProgress: Sendable, Equatable {
    /// The upstream has all of it.
    case confirmed
    /// On its way; `position` counts from 1 at the head of the queue.
    case pending(position: Int)
    /// Given up until a person acts.
    case failed
    /// Behind a change that failed or that a conflict holds.
    case blocked
    /// Somebody has to choose, or the other side has won.
    case conflict
    /// Taken out of the queue without having been sent.
    case discarded
}

/// How much waits in the queue.
package struct PendingCount: Sendable, Equatable {
    /// On their way: queued, uploading, waiting, blocked.
    package var pending: Int
    /// Given up until a person acts.
    package var failed: Int
}

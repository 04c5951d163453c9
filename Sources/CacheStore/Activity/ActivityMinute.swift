/// What happened in one minute, and the queue at its end.
package struct ActivityMinute: Sendable, Equatable {
    /// Minutes since 1970.
    package var number: Int64
    package var pending = 0
    package var failed = 0
    /// Whether the daemon started in it: of the time since the minute before it in the history, nothing is known.
    package var isStart = false
    package var work = ActivityWork()

    package init(
        number: Int64, pending: Int = 0, failed: Int = 0, isStart: Bool = false, work: ActivityWork = ActivityWork()
    ) {
        self.number = number
        self.pending = pending
        self.failed = failed
        self.isStart = isStart
        self.work = work
    }
}

/// What was done in some length of time.
package struct ActivityWork: Sendable, Equatable {
    /// Syncs that have ended, and how long they took together.
    package var syncs = 0
    package var syncTime = Duration.zero
    /// How long the upstream could not be reached.
    package var unreachable = Duration.zero
    /// Requests to the upstream that have ended; no entry for 0.
    package var requests: [RequestResult: Int] = [:]

    package init(
        syncs: Int = 0, syncTime: Duration = .zero, unreachable: Duration = .zero, requests: [RequestResult: Int] = [:]
    ) {
        self.syncs = syncs
        self.syncTime = syncTime
        self.unreachable = unreachable
        self.requests = requests
    }

    package static func += (sum: inout ActivityWork, other: ActivityWork) {
        sum.syncs += other.syncs
        sum.syncTime += other.syncTime
        sum.unreachable += other.unreachable
        sum.requests.merge(other.requests, uniquingKeysWith: +)
    }
}

/// How a request to the upstream ended, by the class of its answer's status.
package enum RequestResult: String, Sendable, CaseIterable {
    case success = "2xx"
    case redirect = "3xx"
    case refusal = "4xx"
    case failure = "5xx"
    /// No complete answer came.
    case unreachable

    /// `status` is nil if no complete answer came. Nil for the status of an answer that is not the last.
    package init?(status: Int?) {
        switch status.map({ $0 / 100 }) {
        case nil: self = .unreachable
        case 2: self = .success
        case 3: self = .redirect
        case 4: self = .refusal
        case 5: self = .failure
        default: return nil
        }
    }
}

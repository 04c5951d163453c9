package import EntitySchema
internal import Upstream

/// What the engine is doing at one moment, and how the last sync went.
package struct SyncStatus: Sendable, Equatable {
    package enum State: String, Sendable, Equatable {
        case idle, syncing, completed, error, offline, paused
    }

    package struct Entity: Sendable, Equatable {
        package var state: State
        /// Records of the pull under way, and how many the upstream says there are.
        package var seen = 0
        package var total: Int?
        /// When its last pull succeeded, in this process; a pull that brought nothing new stores no time.
        package var lastSyncedAt: Timestamp?
    }

    /// What is left of the upstream's limits.
    package struct Budget: Sendable, Equatable {
        /// Requests that may be sent now; the least of all limits.
        package var remaining: Int
        /// The limit with the least left: so many requests in so long. Nil if only the upstream's answers state it.
        package var requests: Int?
        package var span: Duration?
        /// Requests that wait for their turn.
        package var waiting: Int
    }

    package var state: State
    /// 0 to 1 while syncing, 1 otherwise.
    package var progress: Double
    /// What is being done, in a word or two; nil while idle.
    package var phase: String?
    package var lastSyncAt: Timestamp?
    package var nextSyncAt: Timestamp?
    package var error: String?
    package var isReachable: Bool
    /// The upstream has failed and never served a record, so something may be missing: see `SyncEngine.missing(_:)`. One that has
    /// served records lacks nothing, even without a token.
    package var isUnproven = false
    /// The upstream does not accept the token, or there is none.
    package var needsSignIn = false
    /// The upstream accepts the token, but no change of this account.
    package var refusesAccount = false
    /// How far the server's clock is ahead of ours; nil before the first answer.
    package var clockOffset: Duration?
    /// The upstream asked to be left alone until then.
    package var retryAfter: Timestamp?
    /// What is left of the upstream's limits; nil if it has none.
    package var budget: Budget?
    /// Why changes go out one by one, or fewer at a time, though the schema has batches; nil if they do not.
    package var batches: String?
    package var entities: [String: Entity]
    /// The schema's sources of signals, in its order.
    package var signals: [SignalStatus] = []
}

/// Why a sync failed, sorted by what the caller can do.
package enum SyncError: Error, Sendable, Equatable {
    /// The upstream cannot be reached; everything is kept and resumes when it can.
    case offline(String)
    /// The upstream answered with an error that a person must look at.
    case upstream(String)
    case paused
    /// The token belongs to another account than the cache: this process must switch to that account's cache.
    case otherAccount(String)
    /// The database cannot be used right now.
    case cache(String)
    case cancelled
}

extension SyncError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .offline(let message), .upstream(let message), .cache(let message): message
        case .paused: "syncing is paused; resume it first, by repairminder-sync resume or POST /v1/sync/resume"
        case .otherAccount(let account): "the token belongs to another account (\(account)) than this cache"
        case .cancelled: "the daemon is stopping"
        }
    }
}

extension SyncStatus.Budget {
    init(_ balance: RequestBudget.Balance) {
        self.init(
            remaining: balance.remaining, requests: balance.window?.requests, span: balance.window?.span,
            waiting: balance.waiting)
    }
}

/// How one source of signals is doing.
package struct SignalStatus: Sendable, Equatable {
    /// `sse`, `events` or `webhook`.
    package var kind: String
    package var path: String
    /// Whether the stream is open, or the last poll succeeded; nil for calls to this machine.
    package var isConnected: Bool?
    package var lastSignalAt: Timestamp?
    /// Why it is not connected.
    package var error: String?
}

package import EntitySchema

/// What the engine is doing and how it last went, at one moment.
package struct SyncStatus: Sendable, Equatable {
    package enum State: String, Sendable, Equatable {
        case idle, syncing, completed, error, offline, paused
    }

    package struct Entity: Sendable, Equatable {
        package var state: State
        /// Records of the pull under way and how many the upstream says there are.
        package var seen = 0
        package var total: Int?
        /// When its last pull ended well, in this process; a pull that brought nothing new writes no time down.
        package var lastSyncedAt: Timestamp?
    }

    package var state: State
    /// 0 to 1 while syncing, 1 otherwise.
    package var progress: Double
    /// What is being done, in a word or two; nil when nothing is.
    package var phase: String?
    package var lastSyncAt: Timestamp?
    package var nextSyncAt: Timestamp?
    package var error: String?
    package var isReachable: Bool
    /// How far the server's clock is ahead of ours; nil before it was heard of.
    package var clockOffset: Duration?
    /// The whole upstream is left alone until then.
    package var retryAfter: Timestamp?
    package var entities: [String: Entity]
}

/// Why a sync did not reach its end, sorted by what a caller who waited for it can do.
package enum SyncError: Error, Sendable, Equatable {
    /// The upstream cannot be reached; everything is kept and goes on when it can.
    case offline(String)
    /// The upstream answered something that a person must look at.
    case upstream(String)
    case paused
    /// The token belongs to another account than the cache: this process must go on with that account's own.
    case otherAccount(String)
    /// The database cannot be used; later.
    case cache(String)
    case cancelled
}

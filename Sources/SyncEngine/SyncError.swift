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

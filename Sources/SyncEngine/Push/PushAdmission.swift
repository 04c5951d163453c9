internal import CacheStore

/// What a pusher may do at this moment, asked anew before every request.
struct PushAdmission: Sendable {
    enum Allowance: Sendable {
        case all
        /// Nothing that was tried before.
        case untried
        /// One change that was tried before, and whatever was not.
        case trial
    }

    /// Requests that may be in flight; none while the upstream is down or syncing is paused.
    let slots: @Sendable () async -> Int
    let allowance: @Sendable () async -> Allowance
    /// The newest change that may be begun.
    let newest: @Sendable () async -> Int64
    /// Asked last before a change is begun, which is then taken for begun; false for one that the upstream is spared.
    let mayBegin: @Sendable (OutboxChange) async -> Bool
    /// Told of an attempt that ended without its outcome being written down.
    let breaksOff: @Sendable (OutboxChange) async -> Void
}

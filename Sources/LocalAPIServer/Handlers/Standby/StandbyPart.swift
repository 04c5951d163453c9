internal import CacheStore
internal import JSONText

/// What the API shows and asks of a daemon that shares its account with a standby.
package struct StandbyPart: Sendable {
    package struct Standing: Sendable, Equatable {
        package var holdsLease: Bool
        /// Who holds the lease, as last seen; nil if no daemon does, or it is not known.
        package var holder: String?
        /// How long the lease lasts at least.
        package var left: Duration?
        /// Why it cannot be acquired or renewed now.
        package var error: String?

        package init(holdsLease: Bool, holder: String? = nil, left: Duration? = nil, error: String? = nil) {
            self.holdsLease = holdsLease
            self.holder = holder
            self.left = left
            self.error = error
        }
    }

    /// Whether each queued change is stored in etcd as well.
    let isSync: Bool
    let standing: @Sendable () -> Standing
    /// Returns when what is committed by now is stored in etcd as well; why it could not be otherwise.
    let store: @Sendable () async -> String?
    /// Whether the queue is as large as etcd and the daemon that takes over can hold.
    let isFull: @Sendable () -> Bool

    package init(
        isSync: Bool, standing: @escaping @Sendable () -> Standing, isFull: @escaping @Sendable () -> Bool = { false },
        store: @escaping @Sendable () async -> String? = { nil }
    ) {
        self.isSync = isSync
        self.standing = standing
        self.isFull = isFull
        self.store = store
    }

    /// Throws when another daemon has to take the write.
    ///
    /// Without `isSync`, a daemon that knows of no other holder takes it: its queue is the account's, and the change is
    /// sent when it holds the lease again.
    func requireLease() throws(Problem) {
        let standing = standing()
        guard !standing.holdsLease else { return }
        if let holder = standing.holder {
            throw .unavailable("\(holder) takes the changes now: this daemon is its standby", .notLeader)
        }
        guard isSync else { return }
        throw .unavailable(
            "no daemon takes changes now: \(standing.error ?? "the lease is being acquired")", .notLeader)
    }

    /// etcd takes requests of 1.5 MiB, and a change stands twice in its entry: what was there before, and what it sets.
    private static let largestBody = 512 << 10
    private static let largestEntry = 1_300_000

    /// Throws when a change of this size may not fit into etcd. What has no body, such as a retry or a discard, always fits.
    func requireRoom(_ bytes: Int) throws(Problem) {
        guard isSync, bytes > 0 else { return }
        guard !isFull() else {
            throw .unavailable(
                "with standby.sync no more changes are taken than a standby could take over: wait until the upstream has "
                    + "some of the queue, or discard what has failed")
        }
        guard bytes > Self.largestBody else { return }
        throw Problem(.contentTooLarge, "with standby.sync a change has at most \(Self.largestBody) bytes")
    }

    /// Does `body`; throws when a change does not fit into etcd with what it replaces and what earlier edits set.
    func fitting<Result>(
        _ transaction: LocalTransaction, _ body: (LocalTransaction) throws -> Result
    ) throws -> Result {
        guard isSync else { return try body(transaction) }
        let refusal = Problem(
            .contentTooLarge,
            "with standby.sync a queued change has at most \(Self.largestEntry) bytes, with the values that it replaces"
        )
        return try transaction.requireRoom(Self.largestEntry, else: refusal, body)
    }

    /// Throws when a write that is committed here could not be stored in etcd.
    func requireStored() async throws(Problem) {
        guard isSync, let reason = await store() else { return }
        throw .unavailable(
            "the change is not stored in etcd yet, and may still be made: repeat it with the same Idempotency-Key (\(reason))"
        )
    }

    var document: JSONText {
        let standing = standing()
        return .object([
            "holds_lease": .boolean(standing.holdsLease), "holder": .string(standing.holder),
            "lease_s": .integer(standing.left.map { Int($0.components.seconds) }), "sync": .boolean(isSync),
            "error": .string(standing.error),
        ])
    }
}

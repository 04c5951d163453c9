internal import CallerLookup
internal import Dispatch
internal import Glibc
internal import Synchronization

/// The members of one group: processes that run with it, and users that the user database lists in it.
///
/// All daemons of this machine run with the group, so a daemon's user is no member unless it is listed: otherwise an attacker
/// who has taken over one daemon could read the records of all.
///
/// Caches what the database says for 10 seconds, so that frequent calls cannot overload it. While it does not answer, what it
/// said last counts, so that one caller cannot hold up the others. All callers together wait only for a limited time, so that a
/// person with many user ids cannot either. At most 16 questions are open at once, because each takes a thread: a user whose
/// turn does not come in time is no member.
package final class GroupMembers: Sendable {
    private struct Finding {
        var isListed: Bool
        var isDaemon: Bool
        var until: ContinuousClock.Instant
    }

    private struct State {
        var findings: [UInt32: Finding] = [:]
        /// The users that the database is being asked about.
        var asked: Set<UInt32> = []
        /// How long callers had waited, and may not wait again, at a moment.
        var waited = Duration.zero
        var moment: ContinuousClock.Instant?
    }

    /// All callers together may wait for this many times the patience, and for a tenth of the time that passes.
    private static let mostWaits = 2

    private let group: UInt32
    private let patience: Duration
    private let now: @Sendable () -> ContinuousClock.Instant
    private let isListed: @Sendable (_ user: UInt32, _ group: UInt32) -> Bool
    private let nameOf: @Sendable (_ user: UInt32) -> String?
    private let state = Mutex(State())
    private let turns = DispatchSemaphore(value: 16)

    /// `isListed` and `nameOf` query the user database, on a thread where it may take long; a test may replace them.
    /// `patience` is how long a caller waits for it.
    package init(
        of group: UInt32, patience: Duration = .seconds(1),
        isListed: @escaping @Sendable (_ user: UInt32, _ group: UInt32) -> Bool = { GroupMembers.isListed($0, in: $1) },
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        nameOf: @escaping @Sendable (_ user: UInt32) -> String? = { GroupMembers.name(of: $0) }
    ) {
        self.group = group
        self.patience = patience
        self.now = now
        self.isListed = isListed
        self.nameOf = nameOf
    }

    func includes(_ credentials: PeerCredentials) -> Bool {
        let user = credentials.user
        let hasGroup = credentials.groups.contains(group)
        if hasGroup, !DaemonUser.isPossible(user) { return true }
        guard let finding = finding(about: user) else { return false }
        return finding.isListed || hasGroup && !finding.isDaemon
    }

    private func finding(about user: UInt32) -> Finding? {
        if let finding = state.withLock({ $0.findings[user] }), finding.until > now() { return finding }
        // Another call of the same user meanwhile does not wait.
        if state.withLock({ $0.asked.insert(user).inserted }) { ask(about: user) }
        return state.withLock { $0.findings[user] }
    }

    /// How long a caller may wait now.
    private func allowance() -> Duration {
        let now = now()
        return state.withLock { state in
            state.waited = max(.zero, state.waited - (now - (state.moment ?? now)) / 10)
            state.moment = now
            return min(patience, max(.zero, patience * Self.mostWaits - state.waited))
        }
    }

    /// Returns when the answer is in `findings`, or no turn or no answer came in time. An answer comes later then.
    private func ask(about user: UInt32) {
        let begun = now()
        defer { state.withLock { $0.waited += now() - begun } }
        let end = DispatchTime.now() + .milliseconds(Int(allowance() / .milliseconds(1)))
        guard turns.wait(timeout: end) == .success else {
            state.withLock { _ = $0.asked.remove(user) }
            return
        }
        let answered = DispatchSemaphore(value: 0)
        // A queue of its own. Tasks run on the threads of the global queues, so each would hold up the other.
        DispatchQueue(label: "group-members").async { [self] in
            let isDaemon = DaemonUser.isPossible(user) && DaemonUser.isDaemon(user, named: nameOf(user))
            let finding = Finding(
                isListed: isListed(user, group), isDaemon: isDaemon, until: now() + .seconds(10))
            state.withLock { state in
                if state.findings.count >= 1024 { state.findings = state.findings.filter(\.value.isListed) }
                if state.findings.count >= 1024 { state.findings = [:] }
                state.findings[user] = finding
                state.asked.remove(user)
            }
            turns.signal()
            answered.signal()
        }
        _ = answered.wait(timeout: end)
    }

    /// Whether the group is the user's own or among the supplementary ones.
    package static func isListed(_ user: UInt32, in group: UInt32) -> Bool {
        withEntry(of: user) { entry in
            var groups = [gid_t](repeating: 0, count: 65_536)
            var count = Int32(groups.count)
            guard getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count) >= 0 else { return false }
            return groups.prefix(Int(count)).contains(group)
        } ?? false
    }

    /// Nil when the database has no such user.
    package static func name(of user: UInt32) -> String? {
        withEntry(of: user) { String(cString: $0.pw_name) }
    }

    private static func withEntry<Value>(of user: UInt32, _ body: (passwd) -> Value) -> Value? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard let start = buffer.baseAddress,
                getpwuid_r(user, &entry, start, buffer.count, &found) == 0, found != nil
            else { return nil }
            return body(entry)
        }
    }
}

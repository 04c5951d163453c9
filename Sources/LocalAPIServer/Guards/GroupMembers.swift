internal import CallerLookup
internal import Dispatch
internal import Glibc
internal import Synchronization

/// The members of one group: processes that run with it, and users that the user database lists in it.
///
/// Caches what the database says for 10 seconds, so that frequent calls cannot overload it. While it does not answer, what it
/// said last counts, so that one caller cannot hold up the others. At most 16 questions are open at once, because each takes a
/// thread: a user whose turn does not come in time is no member.
package final class GroupMembers: Sendable {
    private struct Finding {
        var isMember: Bool
        var until: ContinuousClock.Instant
    }

    private struct State {
        var findings: [UInt32: Finding] = [:]
        /// The users that the database is being asked about.
        var asked: Set<UInt32> = []
    }

    private let group: UInt32
    private let patience: Duration
    private let now: @Sendable () -> ContinuousClock.Instant
    private let isListed: @Sendable (_ user: UInt32, _ group: UInt32) -> Bool
    private let state = Mutex(State())
    private let turns = DispatchSemaphore(value: 16)

    /// `isListed` queries the user database, on a thread where it may take long; a test may replace it. `patience` is how
    /// long a caller waits for it.
    package init(
        of group: UInt32, patience: Duration = .seconds(1),
        isListed: @escaping @Sendable (_ user: UInt32, _ group: UInt32) -> Bool = { GroupMembers.isListed($0, in: $1) },
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.group = group
        self.patience = patience
        self.now = now
        self.isListed = isListed
    }

    func includes(_ credentials: PeerCredentials) -> Bool {
        if credentials.groups.contains(group) { return true }
        let user = credentials.user
        if let finding = state.withLock({ $0.findings[user] }), finding.until > now() { return finding.isMember }
        // Who calls again meanwhile does not wait as well.
        if state.withLock({ $0.asked.insert(user).inserted }) { ask(about: user) }
        return state.withLock({ $0.findings[user] })?.isMember ?? false
    }

    /// Returns when the answer is in `findings`, or no turn or no answer came within `patience`. An answer comes later then.
    private func ask(about user: UInt32) {
        let patience = DispatchTimeInterval.milliseconds(Int(patience / .milliseconds(1)))
        guard turns.wait(timeout: .now() + patience) == .success else {
            state.withLock { _ = $0.asked.remove(user) }
            return
        }
        let answered = DispatchSemaphore(value: 0)
        // A queue of its own. Tasks run on the threads of the global queues, so each would hold up the other.
        DispatchQueue(label: "group-members").async { [self] in
            let finding = Finding(isMember: isListed(user, group), until: now() + .seconds(10))
            state.withLock { state in
                if state.findings.count >= 1024 { state.findings = [:] }
                state.findings[user] = finding
                state.asked.remove(user)
            }
            turns.signal()
            answered.signal()
        }
        _ = answered.wait(timeout: .now() + patience)
    }

    /// Whether the group is the user's own or among the supplementary ones.
    package static func isListed(_ user: UInt32, in group: UInt32) -> Bool {
        var buffer = [CChar](repeating: 0, count: 16_384)
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        guard getpwuid_r(user, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return false }
        var groups = [gid_t](repeating: 0, count: 65_536)
        var count = Int32(groups.count)
        guard getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count) >= 0 else { return false }
        return groups.prefix(Int(count)).contains(group)
    }
}

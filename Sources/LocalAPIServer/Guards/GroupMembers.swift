internal import CallerLookup
internal import Glibc
internal import Synchronization

/// The members of one group: processes that run with it, and users that the user database lists in it.
///
/// Caches what the database says for 10 seconds, so that frequent calls cannot overload it.
package final class GroupMembers: Sendable {
    private struct Finding {
        var isMember: Bool
        var until: ContinuousClock.Instant
    }

    private let group: UInt32
    private let now: @Sendable () -> ContinuousClock.Instant
    private let isListed: @Sendable (_ user: UInt32, _ group: UInt32) -> Bool
    private let findings = Mutex<[UInt32: Finding]>([:])

    /// `isListed` queries the user database; a test may replace it.
    package init(
        of group: UInt32,
        isListed: @escaping @Sendable (_ user: UInt32, _ group: UInt32) -> Bool = { GroupMembers.isListed($0, in: $1) },
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.group = group
        self.now = now
        self.isListed = isListed
    }

    func includes(_ credentials: PeerCredentials) -> Bool {
        if credentials.groups.contains(group) { return true }
        let user = credentials.user
        let now = now()
        if let finding = findings.withLock({ $0[user] }), finding.until > now { return finding.isMember }
        let finding = Finding(isMember: isListed(user, group), until: now + .seconds(10))
        findings.withLock { findings in
            if findings.count >= 1024 { findings = [:] }
            findings[user] = finding
        }
        return finding.isMember
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

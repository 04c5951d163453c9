import Synchronization

/// The places for connections, which are few, and who has them.
///
/// Nobody but the owner can take them all. Where none is left a new caller gets that of the one who has kept the server
/// waiting for longest, a stranger's first; where nobody has for long, none.
final class ConnectionLimiter: Sendable {
    private let limits: ServerLimits
    /// Without it all callers are alike, and may take every place.
    private let tellsCallersApart: Bool
    private let guests = Mutex<[ObjectIdentifier: Connection]>([:])

    init(limits: ServerLimits, tellsCallersApart: Bool) {
        self.limits = limits
        self.tellsCallersApart = tellsCallersApart
    }

    /// Gives a connection a place, which it must leave; false when there is none for it.
    func admit(_ connection: Connection) -> Bool {
        let (isIn, evicted) = guests.withLock { guests -> (Bool, Connection?) in
            let (share, mayEvict) = terms(of: connection.caller)
            let held = share == limits.connections ? guests.count : guests.values.count { mayEvict($0.caller) }
            if guests.count < limits.connections, held < share {
                guests[ObjectIdentifier(connection)] = connection
                return (true, nil)
            }
            guard let leaving = longestWaiting(in: guests.values.filter { mayEvict($0.caller) }) else {
                return (false, nil)
            }
            guests[ObjectIdentifier(leaving)] = nil
            guests[ObjectIdentifier(connection)] = connection
            return (true, leaving)
        }
        evicted?.evict()
        return isIn
    }

    /// For a connection that has ended, evicted or not.
    func release(_ connection: Connection) {
        guests.withLock { $0[ObjectIdentifier(connection)] = nil }
    }

    /// How many places a caller and its like may have, and whom it may displace; a share is held by those it may displace.
    private func terms(of caller: Caller) -> (share: Int, mayEvict: (Caller) -> Bool) {
        guard tellsCallersApart else { return (limits.connections, { _ in true }) }
        return switch caller.standing {
        case .owner: (limits.connections, { _ in true })
        case .member: (limits.userConnections, { $0 == caller })
        case .stranger: (limits.strangerConnections, { $0.standing == .stranger })
        }
    }

    private func longestWaiting(in guests: [Connection]) -> Connection? {
        let limit = ContinuousClock.now - limits.patienceWhenFull
        let waiting = guests.compactMap { guest in guest.waitingSince.map { (guest, since: $0) } }
            .filter { $0.since <= limit }
        let strangers = waiting.filter { $0.0.caller.standing == .stranger }
        return (strangers.isEmpty ? waiting : strangers).min { $0.since < $1.since }?.0
    }
}

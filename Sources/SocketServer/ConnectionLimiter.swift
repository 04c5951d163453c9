import Synchronization

/// Limits the number of open connections, in total and per caller.
///
/// Only the owner can use all connections. At the limit a new connection replaces the one that has kept the server
/// waiting longest, strangers first; if none has waited long enough, the new connection is rejected.
final class ConnectionLimiter: Sendable {
    private let limits: ServerLimits
    /// If false, all callers are equal and may use all connections.
    private let tellsCallersApart: Bool
    private let open = Mutex<[ObjectIdentifier: Connection]>([:])

    init(limits: ServerLimits, tellsCallersApart: Bool) {
        self.limits = limits
        self.tellsCallersApart = tellsCallersApart
    }

    /// Admits a connection, which must be released later; false when the limit is reached.
    func admit(_ connection: Connection) -> Bool {
        let (isIn, evicted) = open.withLock { open -> (Bool, Connection?) in
            let (share, mayEvict) = terms(of: connection.caller)
            let held = share == limits.connections ? open.count : open.values.count { mayEvict($0.caller) }
            if open.count < limits.connections, held < share {
                open[ObjectIdentifier(connection)] = connection
                return (true, nil)
            }
            guard let leaving = longestWaiting(in: open.values.filter { mayEvict($0.caller) }) else {
                return (false, nil)
            }
            open[ObjectIdentifier(leaving)] = nil
            open[ObjectIdentifier(connection)] = connection
            return (true, leaving)
        }
        evicted?.evict()
        return isIn
    }

    /// Call it for every admitted connection that has ended, evicted or not.
    func release(_ connection: Connection) {
        open.withLock { $0[ObjectIdentifier(connection)] = nil }
    }

    /// How many connections a caller and its kind may have, and whose connections it may evict. The share counts the
    /// connections of those it may evict.
    private func terms(of caller: Caller) -> (share: Int, mayEvict: (Caller) -> Bool) {
        guard tellsCallersApart else { return (limits.connections, { _ in true }) }
        return switch caller.access {
        case .owner: (limits.connections, { _ in true })
        case .member: (limits.userConnections, { $0 == caller })
        case .stranger: (limits.strangerConnections, { $0.access == .stranger })
        }
    }

    private func longestWaiting(in connections: [Connection]) -> Connection? {
        let limit = ContinuousClock.now - limits.patienceWhenFull
        let waiting = connections.compactMap { connection in connection.waitingSince.map { (connection, since: $0) } }
            .filter { $0.since <= limit }
        let strangers = waiting.filter { $0.0.caller.access == .stranger }
        return (strangers.isEmpty ? waiting : strangers).min { $0.since < $1.since }?.0
    }
}

import Synchronization

/// Limits the number of open connections, in total and per caller.
///
/// Only the owner can use all connections: some are kept for it. At the limit a new connection replaces the one that
/// has kept the server waiting longest, strangers first; if none has waited long enough, the new connection is rejected.
/// Strangers share theirs fairly: when all are in use, the caller with the most loses one, busy or not, to a caller with
/// fewer.
final class ConnectionLimiter: Sendable {
    private struct Place {
        let connection: Connection
        let holder: ConnectionHolder
        /// Whether it is of the strangers' share.
        var isStranger: Bool
    }

    private let limits: ServerLimits
    /// If false, all callers are strangers and may use all connections.
    private let tellsCallersApart: Bool
    private let open = Mutex<[ObjectIdentifier: Place]>([:])

    init(limits: ServerLimits, tellsCallersApart: Bool) {
        self.limits = limits
        self.tellsCallersApart = tellsCallersApart
    }

    /// Admits a connection, which must be released later; false when the limit is reached.
    func admit(_ connection: Connection) -> Bool {
        let new = Place(
            connection: connection, holder: ConnectionHolder(connection.caller, connection.peer),
            isStranger: !tellsCallersApart || connection.caller.access == .stranger)
        let (isIn, evicted) = open.withLock { open -> (Bool, Connection?) in
            let (share, mayEvict) = terms(of: new)
            let held = share == limits.connections ? open.count : open.values.count { mayEvict($0) }
            if open.count < room(for: new), held < share {
                open[ObjectIdentifier(connection)] = new
                return (true, nil)
            }
            let rivals = open.values.filter { mayEvict($0) }
            guard let leaving = new.isStranger ? surplus(of: rivals, beside: new) : longestWaiting(in: rivals) else {
                return (false, nil)
            }
            open[ObjectIdentifier(leaving)] = nil
            open[ObjectIdentifier(connection)] = new
            return (true, leaving)
        }
        evicted?.evict()
        return isIn
    }

    /// The caller has proved not to be a stranger: the connection leaves the strangers' share, unless its holder has as many
    /// of these as a member may have. Call it from any thread.
    func noteKnown(_ connection: Connection) {
        guard tellsCallersApart, connection.caller.access == .stranger else { return }
        open.withLock { open in
            guard let place = open[ObjectIdentifier(connection)], place.isStranger else { return }
            let known = open.values.count { one in
                !one.isStranger && one.connection.caller.access == .stranger && one.holder == place.holder
            }
            if known < limits.userConnections { open[ObjectIdentifier(connection)]?.isStranger = false }
        }
    }

    /// Call it for every admitted connection that has ended, evicted or not.
    func release(_ connection: Connection) { open.withLock { $0[ObjectIdentifier(connection)] = nil } }

    /// How many connections there may be, with this one among them.
    private func room(for new: Place) -> Int {
        let isOwner = !tellsCallersApart || new.connection.caller.access == .owner
        return limits.connections - (isOwner ? 0 : limits.ownerConnections)
    }

    /// How many connections a caller and its kind may have, and whose connections it may evict. The share counts the
    /// connections of those it may evict.
    private func terms(of new: Place) -> (share: Int, mayEvict: (Place) -> Bool) {
        guard tellsCallersApart else { return (limits.connections, { _ in true }) }
        let caller = new.connection.caller
        return switch caller.access {
        case .owner: (limits.connections, { _ in true })
        case .member: (limits.userConnections, { $0.connection.caller == caller })
        case .stranger: (limits.strangerConnections, { $0.isStranger })
        }
    }

    /// The stranger's connection that the new one replaces: the longest waiting one of the caller who would have the most.
    /// If that is the new one's own caller, it must have waited long enough.
    private func surplus(of strangers: [Place], beside new: Place) -> Connection? {
        var counts = Dictionary(grouping: strangers, by: \.holder).mapValues(\.count)
        counts[new.holder, default: 0] += 1
        let most = counts.values.max()
        let candidates = strangers.filter { counts[$0.holder] == most }
        guard counts[new.holder] != most else { return longestWaiting(in: candidates) }
        let now = ContinuousClock.now
        return candidates.map { (connection: $0.connection, since: $0.connection.waitingSince ?? now) }
            .min { $0.since < $1.since }?.connection
    }

    private func longestWaiting(in places: [Place]) -> Connection? {
        let limit = ContinuousClock.now - limits.patienceWhenFull
        let waiting = places.compactMap { place in place.connection.waitingSince.map { (place, since: $0) } }
            .filter { $0.since <= limit }
        let strangers = waiting.filter { $0.0.isStranger }
        return (strangers.isEmpty ? waiting : strangers).min { $0.since < $1.since }?.0.connection
    }
}

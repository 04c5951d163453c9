internal import JSONText
internal import SocketServer
internal import Synchronization

/// The sessions of browsers whose readers gave the API's token. Kept in memory: they end with the daemon, and when it reads
/// its configuration again.
final class Sessions: Sendable {
    /// Who may use a session. Of a network of IPv6 each address counts alone: others may have it too.
    enum Owner: Hashable {
        case user(UInt32)
        case address(String)
        case unknown
    }

    private struct Session {
        var id: String
        /// Who began it. A cookie is sent to every port of a host, so the id alone must not open anything to others.
        var owner: Owner
        var used: ContinuousClock.Instant
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    private let random: @Sendable () -> UInt64
    private let open = Mutex<[Session]>([])

    /// A session that is not used for so long has ended.
    static let idleLimit = Duration.seconds(8 * 3600)
    /// Beyond it, the one that was not used for the longest time ends.
    static let most = 64

    /// `random` must not be predictable.
    init(now: @escaping @Sendable () -> ContinuousClock.Instant, random: @escaping @Sendable () -> UInt64) {
        self.now = now
        self.random = random
    }

    /// Returns the id of the new session.
    func begin(for owner: Owner) -> String {
        let id = (0..<4).map { _ in String(hexadecimal: random(), digits: 16) }.joined()
        let now = now()
        open.withLock { open in
            open.removeAll { now - $0.used >= Self.idleLimit }
            if open.count >= Self.most, let oldest = open.indices.min(by: { open[$0].used < open[$1].used }) {
                open.remove(at: oldest)
            }
            open.append(Session(id: id, owner: owner, used: now))
        }
        return id
    }

    /// Whether the owner has such a session; starts its idle time again.
    func use(_ id: String, by owner: Owner) -> Bool {
        let now = now()
        return open.withLock { open in
            open.removeAll { now - $0.used >= Self.idleLimit }
            guard let index = Self.index(of: id, owner, in: open) else { return false }
            open[index].used = now
            return true
        }
    }

    /// Whether the owner has such a session; unlike `use`, this does not start its idle time again.
    func has(_ id: String, by owner: Owner) -> Bool {
        let now = now()
        return open.withLock { open in
            Self.index(of: id, owner, in: open).map { now - open[$0].used < Self.idleLimit } ?? false
        }
    }

    func end(_ id: String, by owner: Owner) {
        open.withLock { open in
            if let index = Self.index(of: id, owner, in: open) { open.remove(at: index) }
        }
    }

    /// Takes as long for every id of this length.
    private static func index(of id: String, _ owner: Owner, in open: [Session]) -> Int? {
        var found: Int?
        for (index, session) in open.enumerated() where SecretText.isEqual(session.id.utf8, id.utf8) {
            if session.owner == owner { found = index }
        }
        return found
    }
}

extension Sessions.Owner {
    init(_ request: Request) {
        if let user = request.caller.user {
            self = .user(user)
        } else if case .tcp(let remote, _) = request.peer {
            self = .address(remote.address)
        } else {
            self = .unknown
        }
    }
}

/// Compares secrets.
enum SecretText {
    /// In a time that depends only on the lengths.
    static func isEqual(
        _ one: some Collection<UInt8>, _ other: some Collection<UInt8>
    ) -> Bool {
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

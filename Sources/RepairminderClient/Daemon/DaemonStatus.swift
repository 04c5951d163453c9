/// The state of syncing and of the queue.
public struct DaemonStatus: JSONDocument {
    /// The object as it came.
    public let json: JSONObject

    /// Nil without a state.
    public init?(json: JSONObject) {
        guard json["state"]?.string != nil else { return nil }
        self.json = json
    }

    /// What the daemon is doing.
    public var state: SyncState { SyncState(rawValue: json["state"]?.string ?? "") }
    /// Why the state is `error` or `offline`; nil otherwise.
    public var error: String? { json["error"]?.string }
    /// What someone must provide before anything can sync, such as a sign-in.
    public var missing: String? { json["missing"]?.string }
    /// What the administrator should know.
    public var warnings: [String] { (json["warnings"]?.array ?? []).map(\.plain) }
    /// The end of the last successful sync, as text.
    public var lastSyncAt: String? { json["last_sync_at"]?.string }
    /// Changes that are not sent yet.
    public var pending: Int { json["pending"]?.int ?? 0 }
    /// Changes that failed permanently.
    public var failed: Int { json["failed"]?.int ?? 0 }
    /// Conflicts that wait for a choice.
    public var conflicts: Int { json["conflicts"]?.int ?? 0 }
    /// Deliveries of hooks that failed too often and wait for someone.
    public var parkedDeliveries: Int { json["parked_deliveries"]?.int ?? 0 }
    /// Whether the upstream can be reached.
    public var isReachable: Bool { json["upstream"]?["reachable"]?.bool ?? false }
    /// The number of cached records of an entity; nil if there is no such entity.
    public func rows(_ entity: String) -> Int? { json["entities"]?[entity]?["rows"]?.int }
    /// The daemon's version.
    public var version: String { json["version"]?.string ?? "" }
}

/// What the daemon is doing.
public struct SyncState: OpenName {
    /// The name of the state.
    public let rawValue: String

    /// Any state, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Nothing, until the next sync.
    public static let idle: SyncState = "idle"
    /// A sync is running.
    public static let syncing: SyncState = "syncing"
    /// A sync has ended in the last three seconds.
    public static let completed: SyncState = "completed"
    /// Something needs attention.
    public static let error: SyncState = "error"
    /// The upstream is unreachable.
    public static let offline: SyncState = "offline"
    /// Someone has paused syncing.
    public static let paused: SyncState = "paused"
}

/// Where the upstream's records and the schema disagree.
public struct Drift: JSONDocument {
    /// The object as it came.
    public let json: JSONObject

    /// Nil without findings.
    public init?(json: JSONObject) {
        guard json["data"]?.array != nil else { return nil }
        self.json = json
    }

    /// The disagreements, the most frequent first: `entity`, `field`, `kind`, `expected`, `found`, `count`, `example`.
    public var findings: [JSONObject] { (json["data"]?.array ?? []).compactMap(\.object) }

    /// The latest records that came without a usable key: `entity`, `record`, `at`.
    public var setAside: [JSONObject] { (json["set_aside"]?.array ?? []).compactMap(\.object) }
}

/// Which lease this daemon competes for, and how.
package struct StandbySettings: Sendable, Equatable {
    /// The addresses of etcd's members, without a trailing slash.
    package var members: [String]
    /// What all keys of this account begin with.
    package var key: String
    /// How long the lease lasts unless it is renewed; in whole seconds.
    package var ttl: Duration
    /// Whether each queued change is stored in etcd before its write is answered.
    package var isSync: Bool
    /// What this daemon is called in etcd and in messages.
    package var name: String

    package init(members: [String], key: String, ttl: Duration, isSync: Bool = false, name: String) {
        self.members = members
        self.key = key
        self.ttl = ttl
        self.isSync = isSync
        self.name = name
    }

    /// Between two renewals, and between two looks at a lease that another daemon holds.
    var interval: Duration { ttl / 3 }

    /// For one member's answer. All three of a cluster fit between a renewal and the end of the lease.
    var patience: Duration { ttl / 6 }

    /// How much earlier than in etcd the lease ends here: two clocks may run at rates that differ by up to a tenth.
    var margin: Duration { ttl / 10 }

    var holderKey: String { key + "/holder" }
    var lastHolderKey: String { key + "/last" }
    var turnKey: String { key + "/turn" }
    var deliveriesKey: String { key + "/deliveries" }
    var queuePrefix: String { key + "/queue/" }
}

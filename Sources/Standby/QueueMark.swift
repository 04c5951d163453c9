internal import JSONText

/// Which daemon stored its whole queue in etcd, and when.
package struct QueueMark: Sendable, Equatable {
    /// Distinguishes the daemon's database from all others.
    package var database: String
    /// etcd's id of the cluster.
    package var cluster: String
    /// The revision of the lease under which the queue was stored.
    package var revision: Int64
    /// Whose changes they are; nil if that is not known.
    package var account: String?

    /// Whether etcd cannot have followed this mark by `later`: it was emptied, is another cluster, or was restored from a
    /// copy that is older than this mark.
    func isForgotten(by later: QueueMark) -> Bool { cluster != later.cluster || revision > later.revision }

    /// Throws if a daemon of this account must not take over what another one has stored under the same `standby.key`.
    func requireAccount(of former: QueueMark) throws(StandbyError) {
        guard let stored = former.account, stored != account else { return }
        guard account != nil else { throw .refused("which account this daemon belongs to is not known yet") }
        throw .refused("the queue in etcd is another account's: set another standby.key here")
    }
}

/// As text, for etcd and the daemon's settings.
extension QueueMark {
    package var text: String {
        JSONText.object([
            "database": .string(database), "cluster": .string(cluster), "revision": .string(String(revision)),
            "account": .string(account),
        ]).text
    }

    package init(_ text: String) {
        let json = try? JSONText(parsing: text)
        self.init(
            database: json?["database"]?.string ?? text, cluster: json?["cluster"]?.string ?? "",
            revision: json?["revision"]?.string.flatMap { Int64($0) } ?? 0, account: json?["account"]?.string)
    }
}

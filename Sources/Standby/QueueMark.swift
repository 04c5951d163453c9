internal import JSONText

/// Which daemon stored its whole queue in etcd, and when.
package struct QueueMark: Sendable, Equatable {
    /// Distinguishes the daemon's database from all others.
    package var database: String
    /// etcd's id of the cluster.
    package var cluster: String
    /// The revision of the lease under which the queue was stored.
    package var revision: Int64

    package init(database: String, cluster: String, revision: Int64) {
        self.database = database
        self.cluster = cluster
        self.revision = revision
    }

    /// Whether etcd cannot have followed this mark by `later`: it was emptied, is another cluster, or was restored from a
    /// copy that is older than this mark.
    func isForgotten(by later: QueueMark) -> Bool { cluster != later.cluster || revision > later.revision }
}

/// As text, for etcd and the daemon's settings.
extension QueueMark {
    package var text: String {
        JSONText.object([
            "database": .string(database), "cluster": .string(cluster), "revision": .string(String(revision)),
        ]).text
    }

    package init(_ text: String) {
        let json = try? JSONText(parsing: text)
        self.init(
            database: json?["database"]?.string ?? text, cluster: json?["cluster"]?.string ?? "",
            revision: json?["revision"]?.string.flatMap { Int64($0) } ?? 0)
    }
}

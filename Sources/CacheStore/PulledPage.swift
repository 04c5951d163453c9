package import EntitySchema

/// Some records of one entity as an upstream sent them, to be written together with where the pull then stands.
package struct PulledPage: Sendable {
    package var entity: String
    /// A JSON array of records.
    package var records: String
    /// `CacheStore.position()` when the page was asked for: what was acknowledged since is newer than the page.
    package var position: Int64
    /// What the entity's cursor becomes in the same transaction, with the page's latest change time: in `pull` while the
    /// pull goes on, as watermark when it ends, since pages need not come in the order of change. Nil leaves it.
    package var cursor: PullCursor?
    /// The latest change time of the pull's earlier pages.
    package var latest: String?
    /// What the server calls the version of the one record that this page is.
    package var version: String?
    /// Parents whose children these records are: key → the value that marks them as fetched.
    package var details: [Detail]

    package struct Detail: Sendable {
        package var parent: String
        package var key: String
        package var value: String?

        package init(parent: String, key: String, value: String?) {
            self.parent = parent
            self.key = key
            self.value = value
        }
    }

    package init(
        entity: String, records: String, position: Int64 = .max, cursor: PullCursor? = nil, latest: String? = nil,
        version: String? = nil, details: [Detail] = []
    ) {
        self.entity = entity
        self.records = records
        self.position = position
        self.cursor = cursor
        self.latest = latest
        self.version = version
        self.details = details
    }
}

/// What applying a page did.
package struct PageOutcome: Sendable, Equatable {
    /// Records in the page.
    package var records = 0
    /// Of these, written because they differ from what was there.
    package var written = 0
    package var deleted = 0
    /// Without a usable key, listed and left out.
    package var setAside = 0
    /// The latest change time of the pull so far, as normalized text.
    package var latestChange: String?

    var changed: Bool { written + deleted > 0 }
}

/// Where the pulling of one entity stands.
package struct PullCursor: Sendable, Equatable {
    /// The greatest change time seen in a finished pull, from the server's data.
    package var watermark: String?
    /// A pull that is not finished, and the page it goes on with.
    package var pull: PullUnderWay?
    package var lastSyncedAt: Timestamp?
    package var lastFullAt: Timestamp?
    package var error: String?

    package init(
        watermark: String? = nil, pull: PullUnderWay? = nil, lastSyncedAt: Timestamp? = nil,
        lastFullAt: Timestamp? = nil, error: String? = nil
    ) {
        self.watermark = watermark
        self.pull = pull
        self.lastSyncedAt = lastSyncedAt
        self.lastFullAt = lastFullAt
        self.error = error
    }
}

package struct PullUnderWay: Sendable, Equatable {
    /// The time asked for; nil for everything.
    package var since: String?
    /// What the next page is asked for with; nil for the first.
    package var position: String?
    /// Records got so far.
    package var seen: Int
    /// The greatest change time so far.
    package var latest: String?

    package init(since: String?, position: String? = nil, seen: Int = 0, latest: String? = nil) {
        self.since = since
        self.position = position
        self.seen = seen
        self.latest = latest
    }
}

/// Some records of one entity as an upstream sent them, to be written together with where the pull then stands.
package struct PulledPage: Sendable {
    package var entity: String
    /// A JSON array of records.
    package var records: String
    /// `CacheStore.position()` when the page was asked for: what was acknowledged since is newer than the page.
    package var position: Int64
    /// What the entity's cursor becomes in the same transaction, completed with what the page tells: its change times in
    /// `pull`, and how late its records are. Nil leaves it.
    package var cursor: PullCursor?
    /// What the server calls the version of the one record that this page is.
    package var version: String?
    /// The change time that an earlier pull had reached: a record from before that came late. Nil measures nothing.
    package var watermark: String?
    /// Asks which of its records the cache has; up to this `_pk` they were there when the pull began (`SeenRecords`).
    package var knownUpTo: Int64?
    /// Where the change log stood when the pull began; asks whether deletions were acknowledged since.
    package var began: Int64?
    /// Records of another entity that came with these.
    package var children: PulledChildren?
    /// Parents whose children these records are: key → the value that marks them as fetched.
    package var details: [Detail]

    /// A pull by newest first wants to know how far down the list it is.
    var wantsEarliest: Bool { cursor?.pull?.kind == .newest }
    /// The pull began with an empty table.
    var isOfFirstPull: Bool { began != nil && knownUpTo == nil }

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
        entity: String, records: String, position: Int64 = .max, cursor: PullCursor? = nil, version: String? = nil,
        watermark: String? = nil, knownUpTo: Int64? = nil, children: PulledChildren? = nil, details: [Detail] = []
    ) {
        self.entity = entity
        self.records = records
        self.position = position
        self.cursor = cursor
        self.version = version
        self.watermark = watermark
        self.knownUpTo = knownUpTo
        self.children = children
        self.details = details
    }
}

/// Children as they came with their parents, to be written with them.
package struct PulledChildren: Sendable {
    package var entity: String
    /// The field of the children that holds their parent's key.
    package var by: String
    /// A JSON array: the children of all the parents.
    package var records: String
    /// Keys of the parents whose children are all there: what else they have in the cache is gone upstream.
    package var complete: [String]
    /// The greatest number of children that may be deleted; more are held.
    package var allowance: Int

    package init(entity: String, by: String, records: String, complete: [String], allowance: Int = .max) {
        self.entity = entity
        self.by = by
        self.records = records
        self.complete = complete
        self.allowance = allowance
    }
}

/// What applying the children of a page did.
package struct ChildOutcome: Sendable, Equatable {
    package var written = 0
    package var deleted = 0
    /// Gone upstream, but kept, since there were more of them than the guard allows.
    package var held = 0

    package init() {}

    init(written: Int, deleted: Int) {
        self.written = written
        self.deleted = deleted
    }
}

/// What applying a page did.
package struct PageOutcome: Sendable, Equatable {
    /// Records in the page.
    package var records = 0
    /// Of these, written because they differ from what was there.
    package var written = 0
    /// Of these, records that had a row before and are not marked as deleted.
    package var hadBefore = 0
    package var deleted = 0
    /// Without a usable key, listed and left out.
    package var setAside = 0
    /// The latest and, for a pull by newest first, the earliest change time of the page, as normalized text.
    package var latestChange: String?
    package var earliestChange: String?
    /// How far before the watermark the latest of its records came, in milliseconds.
    package var lateness: Int64 = 0
    /// The `_pk`s of its records that were there before, where they were asked for, and up to where they stand for the
    /// records that they stood for when the pull began.
    package var known: [Int64] = []
    package var knownUpTo: Int64 = 0
    /// A deletion of ours was acknowledged since the pull began.
    package var deletedMeanwhile = false
    package var children = ChildOutcome()

    /// Something in the cache is no more what it was.
    package var changed: Bool { written + deleted + children.written + children.deleted > 0 }
}

package import EntitySchema
package import JSONText

/// Records of one entity as an upstream sent them, to be written together with the pull's progress.
package struct PulledPage: Sendable {
    package var entity: String
    /// An array of records.
    package var records: JSONText
    /// `CacheStore.position()` when the page was requested: later acknowledgements are newer than the page.
    package var position: Int64
    /// The entity's cursor to store in the same transaction, completed with the page's change times and lateness. Nil
    /// leaves it.
    package var cursor: PullCursor?
    /// The server's version of the record, for a page of one record.
    package var version: String?
    /// The change time that an earlier pull had reached; a record from before it is late. Nil measures nothing.
    package var watermark: String?
    /// Asks which of its records the cache had when the pull began, which are those up to this `_pk` (`SeenRecords`).
    package var knownUpTo: Int64?
    /// The end of the change log when the pull began; asks whether deletions were acknowledged since.
    package var began: Int64?
    /// Where the pull goes on after this page, and how many records it has seen with it.
    package var next: String?
    package var seen = 0
    /// The server's time; a record that claims a later change time does not move the watermark. Nil allows five minutes
    /// after the time of the write.
    package var serverNow: Timestamp?
    /// The most records that the page's tombstones may delete; with more, none is deleted.
    package var tombstones = Int.max
    /// Set when every record only says that it was deleted, with its key and the time as its change time.
    package var deletions: Deletions?
    /// In which kind of answer the records came.
    package var view: RecordView
    /// Only what changed since a token.
    package var isDelta = false
    /// Of the list of everything.
    package var isOfEverything = false
    /// Records of other entities that came with these.
    package var children: [PulledChildren]
    /// Records of this entity that were fetched, or whose children were.
    package var details: [Detail]

    /// A pull by newest first needs to know how far down the list it is.
    var wantsEnding: Bool { cursor?.pull?.kind == .newest }
    /// Asks whether older versions than the cached ones came. A list of what changed since a time would show the newer ones too.
    var wantsOverwritten: Bool { isOfEverything || view == .single }
    /// The pull began with an empty table.
    var isOfFirstPull: Bool { began != nil && knownUpTo == nil }

    package enum Deletions: Sendable {
        /// Each is named once, and before anything that happened to the record later.
        case once
        /// Each may be named again. One that cannot be compared with the record's change time is held.
        case dated
    }

    package struct Detail: Sendable {
        package var key: String
        /// `OutdatedParent.value`.
        package var value: String?

        package init(key: String, value: String?) {
            self.key = key
            self.value = value
        }
    }

    package init(
        entity: String, records: JSONText, position: Int64 = .max, cursor: PullCursor? = nil, version: String? = nil,
        watermark: String? = nil, knownUpTo: Int64? = nil, children: [PulledChildren] = [], details: [Detail] = [],
        view: RecordView = .list
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
        self.view = view
    }
}

/// Children that came with their parents, to be written with them.
package struct PulledChildren: Sendable {
    package var entity: String
    /// The field of the children that holds their parent's key.
    package var by: String
    /// An array: the children of all the parents.
    package var records: JSONText
    /// The keys of all the parents.
    package var parents: [String]
    /// Keys of the parents whose children are complete here: any others in the cache were deleted upstream.
    package var complete: [String]
    /// Which of the missing children are deleted; the others are only named (`ChildOutcome.missing`).
    package var deletes: Deletes

    package enum Deletes: Sendable, Equatable {
        case all, none
        /// Those that an earlier reading lacked as well.
        case only(Set<ExactText>)
    }

    package init(
        entity: String, by: String, records: JSONText, parents: [String], complete: [String], deletes: Deletes = .all
    ) {
        self.entity = entity
        self.by = by
        self.records = records
        self.parents = parents
        self.complete = complete
        self.deletes = deletes
    }
}

/// What applying the children of a page did.
package struct ChildOutcome: Sendable, Equatable {
    package var written = 0
    package var deleted = 0
    /// Cached children of parents whose children are complete in the answer, which are not in it and are kept so far:
    /// the keys of such parents → the keys of their missing children.
    package var missing: [ExactText: [String]] = [:]

    package init() {}

    init(written: Int, deleted: Int) {
        self.written = written
        self.deleted = deleted
    }

    package var changed: Bool { written + deleted > 0 }

    package static func += (outcome: inout ChildOutcome, other: ChildOutcome) {
        outcome.written += other.written
        outcome.deleted += other.deleted
        // Of a parent that comes again, as on each page of a list without end, its last children count.
        outcome.missing.merge(other.missing) { $1 }
    }
}

/// What applying a page did.
package struct PageOutcome: Sendable, Equatable {
    /// Records in the page.
    package var records = 0
    /// Of these, written because they differ from the cached ones.
    package var written = 0
    /// Of these, records that had a row before and are not marked as deleted.
    package var hadBefore = 0
    package var deleted = 0
    /// Keys of records that are marked as deleted, but kept because they are more than the guard allows, or because it
    /// cannot be said whether they were created again since.
    package var heldTombstones: [String] = []
    /// Without a usable key: listed and left out.
    package var setAside = 0
    /// Of these, those whose key is not known either: each may be any record.
    package var nameless = 0
    /// Outside of the entity's window, and left out.
    package var outside = 0
    /// The fields that the window tests and that some record shows.
    package var shown: Set<String> = []
    /// The latest change time of the page and, for a pull by newest first, that of its last record, as normalized text.
    package var latestChange: String?
    package var endingChange: String?
    /// Whether a record is later than one before it.
    package var rises = false
    /// How late its latest record is, in milliseconds before the watermark.
    package var lateness: Int64 = 0
    /// The earliest change time of a cached version that an older one of the page has replaced, when asked for, as normalized text.
    package var overwritten: String?
    /// The `_pk`s of its records that were cached before, when asked for, and the `_pk` up to which they still identify
    /// the records from the start of the pull.
    package var known: [Int64] = []
    package var knownUpTo: Int64 = 0
    /// A local deletion was acknowledged since the pull began.
    package var deletedMeanwhile = false
    /// By the children's entity.
    package var children: [String: ChildOutcome] = [:]

    /// Something in the cache has changed.
    package var changed: Bool { written + deleted > 0 || children.values.contains { $0.changed } }
}

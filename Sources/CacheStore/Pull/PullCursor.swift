package import EntitySchema

/// Where the pulling of one entity stands.
package struct PullCursor: Sendable, Equatable {
    /// The change time up to which finished pulls brought everything, from the server's data.
    package var watermark: String?
    /// A pull that is not finished.
    package var pull: PullUnderWay?
    package var lastSyncedAt: Timestamp?
    /// When a pull of everything last ended; nil when none ever has.
    package var lastFullAt: Timestamp?
    /// How late records have come at most: milliseconds from their change time to the watermark that was reached then.
    package var lateness: Int64
    /// Records that the last full pull did not see, and that are too many to be deleted without a person's word.
    package var heldDeletions: Int
    package var error: String?

    package init(
        watermark: String? = nil, pull: PullUnderWay? = nil, lastSyncedAt: Timestamp? = nil,
        lastFullAt: Timestamp? = nil, lateness: Int64 = 0, heldDeletions: Int = 0, error: String? = nil
    ) {
        self.watermark = watermark
        self.pull = pull
        self.lastSyncedAt = lastSyncedAt
        self.lastFullAt = lastFullAt
        self.lateness = lateness
        self.heldDeletions = heldDeletions
        self.error = error
    }

    /// The same with what a page of its pull told.
    package func including(_ outcome: PageOutcome) -> PullCursor {
        var cursor = self
        cursor.lateness = max(lateness, outcome.lateness)
        cursor.pull?.include(outcome)
        return cursor
    }
}

/// A pull between its first page and its last, as it is kept for the case that it is cut off.
package struct PullUnderWay: Sendable, Equatable {
    package enum Kind: String, Sendable, Equatable {
        case everything
        /// What changed since a time.
        case changes
        /// By change time, newest first, until a page is known.
        case newest
    }

    package var kind: Kind
    /// The time asked for by a pull of changes.
    package var since: String?
    /// What the next page is asked for with; nil for the first.
    package var position: String?
    /// Records got so far.
    package var seen: Int
    /// The greatest change time so far.
    package var latest: String?
    /// When its first page was asked for.
    package var started: Timestamp?
    /// Where the change log stood when a first pull began; nil where there were records already.
    package var began: Int64?

    package init(
        kind: Kind, since: String? = nil, position: String? = nil, seen: Int = 0, latest: String? = nil,
        started: Timestamp? = nil, began: Int64? = nil
    ) {
        self.kind = kind
        self.since = since
        self.position = position
        self.seen = seen
        self.latest = latest
        self.started = started
        self.began = began
    }

    package mutating func include(_ outcome: PageOutcome) {
        latest = [latest, outcome.latestChange].compactMap { $0 }.max()
    }
}

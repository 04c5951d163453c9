package import EntitySchema

/// The progress of one entity's pulls.
package struct PullCursor: Sendable, Equatable {
    /// The change time up to which finished pulls brought everything, by the server's data.
    package var watermark: String?
    /// The watermark when the cursor was loaded: if the stored one is older by now, a read of a record has moved it back.
    package internal(set) var loadedWatermark: String?
    /// The upstream's own mark for what finished pulls brought (`PullPlan.DeltaToken`).
    package var delta: String?
    /// The pull that is not finished.
    package var pull: PullInProgress?
    package var lastSyncedAt: Timestamp?
    /// When a full pull last finished; nil when none ever has.
    package var lastFullAt: Timestamp?
    /// The greatest lateness of a record: milliseconds from its change time to the watermark at that time.
    package var lateness: Int64
    /// Records that the last full pull did not see and that are too many to delete without confirmation.
    package var heldDeletions: Int
    /// Why the last full pull was not believed, in words; nil if it was.
    package var held: String?
    /// How the list disagrees with itself: see `ListGap`.
    package var listGap: String?
    package var error: String?
    /// The definition of the window that the last full pull was made with; nil without one.
    package var window: String?
    /// How many records the list of an entity with a window last showed; nil when it has no window.
    package var total: Int?

    package init(
        watermark: String? = nil, delta: String? = nil, pull: PullInProgress? = nil, lastSyncedAt: Timestamp? = nil,
        lastFullAt: Timestamp? = nil, lateness: Int64 = 0, heldDeletions: Int = 0, held: String? = nil,
        listGap: String? = nil, error: String? = nil, window: String? = nil, total: Int? = nil
    ) {
        self.watermark = watermark
        self.delta = delta
        self.pull = pull
        self.lastSyncedAt = lastSyncedAt
        self.lastFullAt = lastFullAt
        self.lateness = lateness
        self.heldDeletions = heldDeletions
        self.held = held
        self.listGap = listGap
        self.error = error
        self.window = window
        self.total = total
    }

    /// The cursor after a page of its pull.
    package func including(_ outcome: PageOutcome) -> PullCursor {
        var cursor = self
        cursor.lateness = max(lateness, outcome.lateness)
        cursor.pull?.include(outcome)
        if cursor.pull?.kind == .everything { cursor.goBack(to: outcome.overwritten) }
        return cursor
    }

    /// Makes the next pull begin with everything: the list is another one.
    mutating func forgetList() {
        (watermark, delta, pull, lastFullAt, listGap) = (nil, nil, nil, nil, nil)
        (heldDeletions, held) = (0, nil)
    }

    /// Makes the next pull of changes ask for what has changed since this time. A server that was behind, or a cache before it,
    /// has shown older versions than the cached ones, and no list of changes since the watermark would bring those back.
    package mutating func goBack(to time: String?) {
        guard let watermark, let time else { return }
        self.watermark = min(watermark, time)
    }
}

/// A pull between its first and last page, stored so that it can be resumed.
package struct PullInProgress: Sendable, Equatable {
    package enum Kind: String, Sendable, Equatable {
        case everything
        /// Changes since a time.
        case changes
        /// Changes since the upstream gave out a token.
        case delta
        /// By change time, newest first, down to the first page that is known.
        case newest
        /// What a wider window has and the one before had not.
        case widening
    }

    /// The two lists of an entity with `pull.changes`.
    package enum List: String, Sendable, Equatable {
        case everything
        case changes
    }

    package var kind: Kind
    /// Which of two lists `position` is of; nil when the entity has one.
    package var list: List?
    /// The start time of a pull of changes.
    package var since: String?
    /// The token of a pull of changes since one.
    package var delta: String?
    /// The upper bound of what a wider window adds: `{$until}`.
    package var until: String?
    /// The position of the next page; nil for the first.
    package var position: String?
    /// Records received so far.
    package var seen: Int
    /// The greatest change time so far.
    package var latest: String?
    /// When its first page was requested.
    package var started: Timestamp?
    /// The end of the change log when a first pull began; nil when there were records already.
    package var began: Int64?
    /// The definition of the window that it is made with; nil without one.
    package var window: String?
    /// A pull of everything has shown older versions than the cached ones: the watermark went back, or stays before them.
    package var wentBack: Bool

    package init(
        kind: Kind, list: List? = nil, since: String? = nil, delta: String? = nil, until: String? = nil,
        position: String? = nil, seen: Int = 0, latest: String? = nil, started: Timestamp? = nil, began: Int64? = nil,
        window: String? = nil, wentBack: Bool = false
    ) {
        self.kind = kind
        self.list = list
        self.since = since
        self.delta = delta
        self.until = until
        self.position = position
        self.seen = seen
        self.latest = latest
        self.started = started
        self.began = began
        self.window = window
        self.wentBack = wentBack
    }

    package mutating func include(_ outcome: PageOutcome) {
        latest = [latest, outcome.latestChange].compactMap { $0 }.max()
        wentBack = wentBack || kind == .everything && outcome.overwritten != nil
    }
}

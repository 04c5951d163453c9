internal import CacheStore
internal import Upstream

extension ListPull {
    /// What the pages written so far have led to.
    struct Progress: Sendable {
        var cursor: PullCursor
        var pull: PullInProgress
        /// The records seen so far; nil if that is unknown, and for a newest-first pull, in which no record can slide
        /// past the pages.
        var seen: SeenRecords?
        /// How many pages in a row had only records of earlier pages.
        var pagesWithoutNews = 0
        /// How many records the cache had before.
        var rows = 0
        /// How many more records tombstones may delete.
        var tombstones = Int.max
        var summary = PullSummary()
        /// Records that the window left out, and the fields that it tests and some record has shown.
        var outside = 0
        var shown: Set<String> = []
        /// The last page had a record that is later than one before it; only for a newest-first pull.
        var rises = false
    }
}

extension PullInProgress {
    /// False for lists in which no record can slide past the pages, or in which one may be named for each of its changes.
    var showsEachOnce: Bool { [.everything, .changes, .widening].contains(kind) }
}

extension ListPull.Progress {
    /// Completes a page with what the pages before it have led to.
    func prepare(_ page: inout PulledPage) {
        if let seen {
            page.knownUpTo = seen.knownUpTo > 0 ? seen.knownUpTo : nil
            page.began = seen.position
        }
        page.tombstones = tombstones
        guard page.cursor != nil else { return }
        var completed = cursor
        completed.pull = reached(page)
        // A newest-first pull always begins with the newest.
        if pull.kind == .newest { completed.pull?.position = nil }
        page.cursor = completed
    }

    mutating func include(_ page: PulledPage, _ outcome: PageOutcome) {
        pull = reached(page)
        if page.cursor != nil { cursor.pull = page.cursor?.pull }
        pagesWithoutNews = seen?.hasAll(of: outcome) == true ? pagesWithoutNews + 1 : 0
        seen?.insert(outcome)
        tombstones -= tombstones == .max ? 0 : outcome.deleted
        pull.include(outcome)
        cursor = cursor.including(outcome)
        // After the last page, the cursor has no pull any more that would say so.
        if pull.kind == .everything { cursor.goBack(to: outcome.overwritten) }
        summary.wentBack = pull.wentBack
        summary.add(outcome)
        rises = outcome.rises
        outside += outcome.outside
        shown.formUnion(outcome.shown)
    }

    /// So many pages in a row without a record that no earlier page had are no coincidence, in any order.
    private static let mostWithoutNews = 100

    /// Throws `Endless` for a list that shows the same records again and again, each time with other values.
    func requireNews(of path: String) throws {
        guard pagesWithoutNews > Self.mostWithoutNews else { return }
        throw PageReader.Endless(
            reason: .malformed(
                "\(path) answered only records of earlier pages on \(pagesWithoutNews) pages in a row, as if it ignored which "
                    + "page is asked for\(PageTrail.advice)"))
    }

    /// The pull once the page is written, but for what the page brings.
    private func reached(_ page: PulledPage) -> PullInProgress {
        var reached = pull
        reached.position = page.next
        reached.seen = page.seen
        return reached
    }
}

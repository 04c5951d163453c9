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

extension PullSummary {
    /// Records of the list that may be those that seem to be gone, in words; nil if there are none.
    var namelessWords: String? {
        guard nameless > 0 else { return nil }
        return "it shows \(nameless.grouped) without a usable key, which may be the same"
    }
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

    /// Why a list that was read twice still lacks records, in words, if it seems to have no order of its own: its total stayed.
    func shuffled(_ reader: PageReader) -> String? {
        guard seen?.hasManyRepeated == true, !reader.list.totalMoved else { return nil }
        return """
            it showed ten records or more twice in two readings, although its total stayed; let query sort it by a value that no two \
            records share, and leave out what repeats records
            """
    }

    /// How the list disagrees with itself; nil if it does not.
    func gap(of list: ListReading) -> ListGap? {
        let counts = pull.kind != .delta
        return ListGap(
            total: counts ? list.total.map { $0 - pull.seen } ?? 0 : 0,
            repeated: counts ? seen?.repeated ?? [] : [], isPartial: list.partial != nil)
    }

    /// Why some of what changed is not here yet, in words; nil if no page says so, or the list of everything always does.
    func lack(of list: ListReading) -> String? {
        guard pull.kind == .everything || !ListGap.isUsuallyPartial(cursor.listGap) else { return nil }
        return list.partial.map { "\($0); what changed is asked for again" }
    }

    /// Whether a list of what changed shows fewer records than it counts, although the list of everything shows all that it
    /// counts: the others may come later, or its total may count something else. A total of half of the cached records or more may
    /// be that of the list of everything.
    func isShort(_ list: ListReading) -> Bool {
        guard pull.kind == .changes, cursor.listGap == nil, let total = list.total else { return false }
        return total > pull.seen && total < rows / 2
    }

    /// Whether a list for changes alone may be cut where it ends, so that only the list of everything shows the others.
    func isCut(_ list: ListReading) -> Bool { pull.list == .changes && list.partial == nil && list.cut != nil }

    /// Why a list of changes may lack some, or why each pull reads all of it, since even its last page is out of order; in words.
    func doubt(of list: ListReading) -> String? {
        guard list.skips == nil, pull.kind == .newest, rises, pull.position == nil, list.pages > 1 else {
            return list.skips
        }
        return """
            it is not by change time, newest first, so each pull reads all of it; let query sort it, or set another mode
            """
    }

    /// The pull once the page is written, but for what the page brings.
    private func reached(_ page: PulledPage) -> PullInProgress {
        var reached = pull
        reached.position = page.next
        reached.seen = page.seen
        return reached
    }
}

internal import CacheStore

/// What is known of a list at its end: whether it may lack records, and whether it can show which ones are gone.
struct ListEnd {
    private let list: ListReading
    private let progress: ListPull.Progress
    /// It was read from its first page on.
    private let isWhole: Bool
    /// It was read twice.
    private let isSecond: Bool
    /// How the list disagrees with itself; nil if it does not.
    let gap: ListGap?

    init(of list: ListReading, _ progress: ListPull.Progress, isWhole: Bool, isSecond: Bool) {
        (self.list, self.progress, self.isWhole, self.isSecond) = (list, progress, isWhole, isSecond)
        let counts = progress.pull.kind != .delta
        gap = ListGap(
            total: counts ? list.total.map { $0 - progress.pull.seen } ?? 0 : 0,
            repeated: counts ? progress.seen?.repeated ?? [] : [], isPartial: list.partial != nil)
    }

    private var pull: PullInProgress { progress.pull }

    // MARK: Whether it disagrees with itself

    /// The list may have shown less than there is. A gap that it always has does not count.
    var hasGap: Bool { isEnded && (isUnstable || gap != nil && !isUsualGap) }

    private var isEnded: Bool { isWhole && pull.position == nil }

    /// A record changed while the pull was under way, and another one may have slid past its pages.
    var isUnstable: Bool { progress.seen?.hasChanged ?? false || list.totalMoved && pull.showsEachOnce }

    /// The list disagrees with itself as it always does.
    var isUsualGap: Bool { isEnded && !isUnstable && notedGap.map { $0.times >= ListGap.enough } ?? false }

    /// What is usual is known of the list of everything.
    private var notedGap: (text: String, times: Int)? {
        gap?.noted(after: pull.list == .changes ? nil : progress.cursor.listGap)
    }

    /// For `PullCursor.listGap`: how often the list of everything disagreed with itself in the same way.
    var noted: String? {
        isEnded && !isUnstable && pull.kind == .everything ? notedGap?.text : progress.cursor.listGap
    }

    // MARK: Whether it lacks records

    /// A record may not have been on any page.
    var mayLack: Bool {
        let repeats = progress.seen?.repeated.isEmpty == false
        return isUnstable && !hasOnlyGrown || !isUsualGap && (repeats || lack != nil)
    }

    /// Records came to the end of the list while it was read, and nothing else happened: each was on a page. A busy upstream
    /// grows during each long pull, so the watermark must move then.
    private var hasOnlyGrown: Bool {
        progress.seen?.hasChanged != true && !list.totalShrank && list.total != nil && gap == nil
    }

    /// Why some of what changed is not here yet, in words; nil if no page says so, or the list of everything always does.
    var lack: String? {
        guard pull.kind == .everything || !ListGap.isUsuallyPartial(progress.cursor.listGap) else { return nil }
        return list.partial.map { "\($0); what changed is asked for again" }
    }

    /// Whether a list of what changed shows fewer records than it counts, although the list of everything shows all that it
    /// counts: the others may come later, or its total may count something else. A total of half of the cached records or more may
    /// be that of the list of everything.
    var isShort: Bool {
        guard pull.kind == .changes, progress.cursor.listGap == nil, let total = list.total else { return false }
        return total > pull.seen && total < progress.rows / 2
    }

    /// Whether a list for changes alone may be cut where it ends, so that only the list of everything shows the others.
    var mayBeCut: Bool { pull.list == .changes && list.partial == nil && list.cut != nil }

    // MARK: Why it is not believed

    /// Why the list cannot show which records are gone, in words; nil if it can. Only after a full pull.
    var doubt: String? {
        list.cut ?? shuffled ?? (isUnstable ? "it changed while it was read" : gap?.words ?? nameless)
    }

    /// Why a list that was read twice still lacks records, in words, if it seems to have no order of its own: its total stayed.
    var shuffled: String? {
        guard isSecond, isUnstable, progress.seen?.hasManyRepeated == true, !list.totalMoved else { return nil }
        return """
            it showed ten records or more twice in two readings, although its total stayed; let query sort it by a value that no two \
            records share, and leave out what repeats records
            """
    }

    /// Records of the list that may be those that seem to be gone, in words; nil if there are none.
    private var nameless: String? {
        let count = progress.summary.nameless
        return count > 0 ? "it shows \(count.grouped) without a usable key, which may be the same" : nil
    }

    /// Why a list of changes may lack some, or why each pull reads all of it, since even its last page is out of order; in words.
    var doubtOfChanges: String? {
        guard list.skips == nil, pull.kind == .newest, progress.rises, pull.position == nil, list.pages > 1 else {
            return list.skips
        }
        return """
            it is not by change time, newest first, so each pull reads all of it; let query sort it, or set another mode
            """
    }
}

internal import CacheStore

/// What a pull did.
struct PullSummary: Equatable {
    var seen = 0
    var written = 0
    var deleted = 0
    var setAside = 0
    /// Gone upstream as it seems, but kept, since there were more of them than the guard allows.
    var held = 0
    /// The list moved under the pages: some of its records may not have been on any of them.
    var hasGap = false
    var children = ChildOutcome()
    /// What was wrong with the first record whose children could not be read.
    var childProblem: String?

    mutating func add(_ outcome: PageOutcome) {
        seen += outcome.records
        written += outcome.written
        deleted += outcome.deleted
        setAside += outcome.setAside
        children.written += outcome.children.written
        children.deleted += outcome.children.deleted
        children.held += outcome.children.held
    }

    var wrote: Bool { written + deleted + children.written + children.deleted > 0 }
}

internal import CacheStore

/// How a list disagrees with itself: its total with its records, or a row with its double; or it says that it lacks records.
///
/// A gap that every pull sees belongs to the list: it is reported, the list is no longer read twice for it, and the list
/// never shows which records are gone.
struct ListGap: Equatable {
    /// The list's total minus the records that it showed. How many a page lacks may differ each time, and counts as 0.
    var total: Int
    /// How many records it showed twice, and a digest of which ones.
    var twice: Int
    var digest: Int64
    /// A page says that it lacks records.
    var isPartial: Bool

    /// A gap that was seen this many times in a row belongs to the list.
    static let enough = 3

    /// Nil without a gap.
    init?(total: Int, repeated: Set<Int64>, isPartial: Bool = false) {
        guard total != 0 || !repeated.isEmpty || isPartial else { return nil }
        self.total = isPartial ? 0 : total
        self.isPartial = isPartial
        twice = repeated.count
        digest = repeated.sorted().reduce(0) { ($0 &* 31) &+ $1 }
    }

    /// For `PullCursor.listGap`: how often it was seen in a row, with `before` the last such text.
    func noted(after before: String?) -> (text: String, times: Int) {
        let mark = "\(total)/\(twice)/\(digest)\(isPartial ? "/partial" : "")"
        let parts = (before ?? "").split(separator: " ")
        let known = parts.count == 2 && parts[1] == mark ? Int(parts[0]) ?? 0 : 0
        let times = min(known, Self.enough - 1) + 1
        return ("\(times) \(mark)", times)
    }

    /// Whether the list of everything has said so often that it lacks records that it is no news of a list of what changed.
    static func isUsuallyPartial(_ noted: String?) -> Bool {
        let parts = (noted ?? "").split(separator: " ")
        return parts.count == 2 && parts[1].hasSuffix("/partial") && (Int(parts[0]) ?? 0) >= enough - 1
    }

    /// Empty if only a page says so: `ListDoubt` has the words.
    var words: String {
        var parts: [String] = []
        if total > 0 { parts.append("its total is always \(total) more than its records") }
        if total < 0 { parts.append("its total is always \(-total) less than its records") }
        if twice > 0 { parts.append("it always shows \(twice == 1 ? "a record" : "\(twice) records") twice") }
        return parts.joined(separator: ", and ")
    }
}

import ReferenceUpstream

/// How the projects are read, and how deleted ones are found.
extension HabitSchema {
    enum Reading: CaseIterable {
        /// GET with parameters.
        case plain
        /// By POST: everything, or what changed since a time.
        case posted
        /// By token or by link; and by POST with a token.
        case token, link, postedToken

        var hasToken: Bool { [.token, .link, .postedToken].contains(self) }
        var isPosted: Bool { self == .posted || self == .postedToken }
    }

    enum Deletions: CaseIterable {
        /// Marks in lists of changes, or nothing, as `hasTombstones` says.
        case marks
        /// A list of deletions with their times, by GET; and one without, by POST with a token.
        case dated, undated
    }

    /// How times are written in requests for changes, apart from ISO 8601 with milliseconds.
    private static let sinceFormats = [
        "epoch", "yyyy-MM-ddTHH:mm:ssZ", "yyyy-MM-dd HH:mm", "dd/MM/yyyy HH:mm", "yyyy-MM-dd HH:mm:ss[-08:00]",
    ]

    private static let dayForms = ["dd.MM.yyyy", "yyyyMMdd", "iso", "epoch"]
    private static let timeForms = ["iso", "yyyy-MM-dd HH:mm:ss", "yyyy-MM-ddTHH:mm"]

    mutating func drawForms(seed: UInt64) {
        var random = SplitMix64(seed: seed ^ 0x666f_726d_7300)
        if random.chance(0.6) { dayForm = random.pick(Self.dayForms) }
        if random.chance(0.6) { timeForm = random.pick(Self.timeForms) }
    }

    mutating func drawReading(seed: UInt64) {
        var random = SplitMix64(seed: seed ^ 0x7265_6164_696e_6700)
        if random.chance(0.5) { reading = random.pick(Reading.allCases) }
        if random.chance(0.4) { deletions = random.pick(Deletions.allCases) }
        if random.chance(0.4) { sinceFormat = random.pick(Self.sinceFormats) }
        hasListOfChanges = random.chance(0.3)
    }

    /// Gives a habit that concerns tokens or lists of deletions something to concern.
    mutating func adaptReading(to habits: Habits) {
        // Each page of such a list tells where the next one is, so it is never cut off or counted wrongly.
        if habits[.cutLists] || habits[.slidingRows] || habits[.wrongTotals] || habits[.listedTwice] {
            reading = reading.isPosted ? .posted : .plain
        }
        if habits[.cutLists] { reading = .plain }
        if habits[.forgottenTokens], !reading.hasToken { reading = .token }
        if habits[.forgottenTombstones] || habits[.failingTombstones], deletions == .marks { deletions = .dated }
        if habits[.laggingTombstones], deletions == .marks, !reading.hasToken { hasTombstones = true }
    }

    var projectsPull: String {
        let single = reading.isPosted ? ", record: { path: \"/projects/{id}\" }" : ""
        let detail =
            children == 1 ? ", detail: { path: \"/projects/{id}/tasks\", into: tasks, when_changed: touched_at }" : ""
        return "{ \(list)\(deleted)\(single)\(detail) }"
    }

    private var list: String {
        let by = "field: updated_at"
        let next = "style: cursor, cursor: cursor, next: next, size: per, page_size: \(pageSize)"
        switch reading {
        case .plain:
            guard isIncremental else { return "path: /projects, \(full)" }
            return "path: /projects, \(since(param: true))\(listOfChanges)"
        case .posted:
            let all = "\(position)all: true"
            guard isIncremental else { return "\(search(all)), \(full)" }
            return searches(all, changed: "\(position)where: { changed: [from, \"{$since}\"] }") + ", \(since())"
        case .token:
            return "path: /projects, since: { token: sync.token, param: sync, \(by) }, pagination: { \(next) }"
                + listOfChanges
        case .link:
            return #"path: /projects, since: { link: '"@delta.link"', "# + by
                + #" }, pagination: { style: next_url, next: '"@next.link"', size: per, page_size: "# + "\(pageSize) }"
        case .postedToken:
            let all = "after: \"{$cursor}\""
            return searches(all, changed: "\(all), token: \"{$delta}\"")
                + ", since: { token: token, \(by) }, pagination: { \(next) }"
        }
    }

    private var position: String { pages ? "page: \"{$page}\", per: \"{$size}\", " : "" }
    private var full: String { "mode: full, changed_at: updated_at" }
    private var listOfChanges: String { hasListOfChanges ? ", changes: { path: /projects/changed }" : "" }

    private func since(param: Bool = false) -> String {
        let format = sinceFormat.map { ", format: \"\($0)\"" } ?? ""
        return "since: { \(param ? "param: since, " : "")field: updated_at, overlap: 60s\(format) }"
    }

    /// The bodies that ask for everything, and for what changed.
    private func searches(_ all: String, changed: String) -> String {
        guard hasListOfChanges else { return search(changed) }
        return "\(search(all)), changes: { \(search(changed, at: "changed")) }"
    }

    private func search(_ body: String, at name: String = "search") -> String {
        "call: POST /projects/\(name), body: { \(body) }"
    }

    private var deleted: String {
        let single = "pagination: { style: single }"
        return switch deletions {
        case .marks: hasTombstones ? ", deleted: deleted_at" : ""
        case .dated:
            ", deleted: { path: /projects/deletions, key: project.id, at: gone_at, "
                + "since: { param: after, overlap: 60s }, \(single) }"
        case .undated:
            ", deleted: { call: POST /projects/removed, body: { since: \"{$delta}\" }, key: id, "
                + "since: { token: mark }, \(single) }"
        }
    }
}

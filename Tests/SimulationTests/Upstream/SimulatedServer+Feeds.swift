import EntitySchema
import JSONText
import ReferenceUpstream
import Synchronization
import Upstream

/// Serves what changed since a token, lists of deletions, and lists of events.
extension SimulatedServer {
    /// Where a page of such a list is: `2@57+41` is the second page, of what had happened up to version 57, and comes
    /// after version 41.
    struct FeedPosition {
        var page = 1
        var upTo: Int?
        var after: Int?

        init() {}

        init(_ text: String?) {
            let parts = (text ?? "").split(separator: "@", maxSplits: 1)
            page = parts.first.flatMap { Int($0) } ?? 1
            guard parts.count == 2 else { return }
            let marks = parts[1].split(separator: "+").map { Int($0) }
            upTo = marks.first ?? nil
            after = marks.count > 1 ? marks[1] : nil
        }

        func next(upTo version: Int, after last: Int? = nil) -> String {
            "\(page + 1)@\(version)\(last.map { "+\($0)" } ?? "")"
        }
    }

    /// A page of a list of its own, of an entity that is not broken; nil for any other list.
    func feedPage(_ request: PageRequest) -> Answer<Page>? {
        if request.path == Feeds.eventsPath { return events(request) }
        if request.path == Feeds.deletionsPath { return deletions(request) }
        guard let token = request.deltaToken else { return nil }
        return token == schema["customers"]?.pull?.deltaToken ? customers(request) : nil
    }

    // MARK: Tokens

    /// Without a token everything, and with the last page a token of when the first one was read.
    private func customers(_ request: PageRequest) -> Answer<Page> {
        let position = FeedPosition(request.position)
        let upTo = position.upTo ?? lastVersion(of: "customers", seen: settings.feeds.changesLag)
        if let token = request.values.delta {
            if let refusal = expired(token) { return .failure(refusal) }
            let changed = rows("customers").filter {
                $0.version > (position.after ?? Self.version(in: token)) && $0.version <= upTo
            }
            return page(changed.map { ($0.version, $0.record) }, position, upTo: upTo)
        }
        let all = records("customers")
        let shown = all.dropFirst((position.page - 1) * settings.pageSize).prefix(settings.pageSize)
        let isLast = position.page * settings.pageSize >= all.count
        var page = Page(
            records: .array(shown.map(\.record)), count: shown.count, total: all.count,
            next: isLast ? nil : position.next(upTo: upTo))
        if isLast { page.delta = Self.token(upTo) }
        return .success(page)
    }

    /// One page of what has versions, oldest first, and the next token with the last.
    private func page(_ elements: [(version: Int, record: JSONText)], _ position: FeedPosition, upTo: Int) -> Answer<
        Page
    > {
        let shown = elements.sorted { $0.version < $1.version }.prefix(settings.pageSize)
        let last = shown.count < elements.count ? shown.last?.version : nil
        var page = Page(
            records: .array(shown.map(\.record)), count: shown.count,
            next: last.map { position.next(upTo: upTo, after: $0) })
        if last == nil { page.delta = Self.token(upTo) }
        return .success(page)
    }

    private static func token(_ version: Int) -> String { "/customers?delta=\(version)" }

    /// Also of one that an engine has made up.
    static func version(in token: String) -> Int { Int(token.drop { $0 != "=" }.dropFirst()) ?? 0 }

    /// Why a token is not known; nil if it is.
    private func expired(_ token: String) -> UpstreamError? {
        let feeds = settings.feeds
        guard !isCalm, executor.random({ $0.chance(feeds.expiry) }) else { return nil }
        let (status, text) = (feeds.expiredStatus, "\(token) is not known any more")
        log.add("server has forgotten \(token)")
        return switch status {
        case 400: .refused(status: status, text)
        case 409: .changed(status: status, text)
        default: .gone(status: status, text)
        }
    }

    /// The last version of an entity that a replica has which is `lag` milliseconds behind: all up to it are there.
    private func lastVersion(of entity: String, seen lag: Int) -> Int {
        let (rows, last) = state.withLock { ($0.tables[entity] ?? [:], $0.version) }
        let hidden = rows.values.lazy.filter { $0.visibleAt > self.executor.now - .milliseconds(lag) }.map(\.version)
        return hidden.min().map { $0 - 1 } ?? last
    }

    // MARK: Deletions

    private func deletions(_ request: PageRequest) -> Answer<Page> {
        let feeds = settings.feeds
        if let poison = state.withLock({ $0.poisoned["orders"] }), poison != .alwaysLoops {
            return .failure(.unclear(status: 500, "poisoned"))
        }
        if !isCalm, executor.random({ $0.chance(feeds.failures) }) {
            return .failure(.unclear(status: 503, "the list of deletions is out of order"))
        }
        let position = FeedPosition(request.position)
        let visible = shownDeletions()
        let upTo = position.upTo ?? visible.upTo
        var listed = visible.listed.filter { $0.version <= upTo && $0.version > position.after ?? 0 }
        if let token = request.values.delta {
            if let refusal = expired(token) { return .failure(refusal) }
            guard Self.version(in: token) >= visible.forgotten else {
                return .failure(.gone(status: 410, "\(token) is from before the first deletion that is remembered"))
            }
            listed.removeAll { $0.version <= Self.version(in: token) }
        }
        if let since = request.since.flatMap({ Timestamp(iso8601: $0.value) }) { listed.removeAll { $0.at < since } }
        let entries = listed.map { deletion in
            let time: [(key: String, value: JSONText)] =
                feeds.deletions == .undated ? [] : [("at", .string(deletion.at.description))]
            return (deletion.version, JSONText.object(members: [("id", .string(deletion.key))] + time))
        }
        return page(entries, position, upTo: upTo)
    }

    /// What the list of deletions shows: all up to a version, but those that were too long ago. `forgotten` is the last
    /// version of these.
    private func shownDeletions() -> (listed: [Deletion], upTo: Int, forgotten: Int) {
        let (all, last) = state.withLock { ($0.deletions, $0.version) }
        let lag = Duration.milliseconds(settings.feeds.deletionsLag)
        let hidden = all.first { $0.moment > executor.now - lag }
        let visible = all.prefix { $0.version < hidden?.version ?? .max }
        let listed = visible.filter { isRemembered($0) }
        let forgotten = visible.last { !isRemembered($0) }
        return (listed, hidden.map { $0.version - 1 } ?? last, forgotten?.version ?? 0)
    }

    func isRemembered(_ deletion: Deletion) -> Bool {
        settings.feeds.retention.map { deletion.moment > executor.now - .seconds($0) } ?? true
    }

    // MARK: Events

    private func events(_ request: PageRequest) -> Answer<Page> {
        let position = request.position.flatMap { Int($0) }
        if let position, let refusal = expired("event \(position)") { return .failure(refusal) }
        let events = signals.events(after: position ?? 0)
        return .success(
            Page(records: .array(events), count: events.count, next: events.last?["seq"]?.plain ?? request.position))
    }
}

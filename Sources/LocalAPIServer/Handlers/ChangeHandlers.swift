internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SQLiteStore
internal import SocketServer

/// The change log, a page at a time: now, or as soon as there is a change.
extension Handlers {
    /// Without `since` the page starts at the end of the log. `wait` waits for the first change; the page is empty when
    /// none comes in time.
    func changes(_ request: Request) async throws -> Response {
        let parameters = try QueryParameters(request)
        var mistakes = mistakes
        let limit = parameters.pageSize(100, &mistakes)
        let wait = mistakes.collect(0, try parameters.integer("wait", in: 0...60, else: 0))
        let filter = changeFilter(parameters, &mistakes)
        let epoch: String? = mistakes.collect(nil, try parameters.value("epoch"))
        let given: Int64? = mistakes.collect(nil, try parameters.position("since"))
        try mistakes.throwAny()
        if let epoch { try requireEpoch(epoch) }
        let since = try given ?? store.position()
        var page = try await changes(since: since, filter, limit, for: request)
        if page.events.isEmpty, wait > 0 {
            page = try await within(.seconds(wait)) { [since = page.next] in
                try await firstChanges(since, filter, limit)
            }
            try requireCaller(of: request)
        }
        return .document(
            .object([
                "epoch": .string(store.epoch), "data": .array(page.events.map(\.document)),
                "next": .integer(Int(page.next)),
            ]))
    }

    /// The first page that is not empty, or an empty one when the task is cancelled or the server stops.
    private func firstChanges(_ since: Int64, _ filter: ChangeFilter, _ limit: Int) async throws -> ChangePage {
        waitingForChanges.add()
        defer { waitingForChanges.remove() }
        var since = since
        while true {
            let commits = store.signal.commits
            let begun = metrics.uptime()
            let page = try store.changes(since: since, filter: filter, limit: limit)
            guard page.events.isEmpty, !Task.isCancelled, !store.signal.isClosed else { return page }
            since = page.next
            await letCommitsPass(after: metrics.uptime() - begun, callers: waitingForChanges.value)
            await store.signal.wait(after: commits)
        }
    }

    /// How many entries a filter may skip before the log is read on the thread for long reads.
    private static let quickEntries = 1000

    /// A page of the log.
    func changes(
        since: Int64, _ filter: ChangeFilter, _ limit: Int, for request: Request
    ) async throws -> ChangePage {
        guard filter != ChangeFilter(), try store.position() - since > Self.quickEntries else {
            return try store.changes(since: since, filter: filter, limit: limit)
        }
        return try await store.away(for: ReadCaller(request)) {
            try $0.changes(since: since, filter: filter, limit: limit)
        }
    }

    /// Refuses a position from the log of another database file.
    func requireEpoch(_ epoch: String) throws {
        guard epoch == store.epoch else {
            throw CacheError.gone("this is not the cache of epoch \(epoch.prefix(50)); read the records again")
        }
    }

    /// `entity=` and `kind=`: each takes one name, or several separated by commas.
    func changeFilter(_ parameters: QueryParameters, _ mistakes: inout Mistakes) -> ChangeFilter {
        var filter = ChangeFilter()
        filter.entities = entityNames(parameters, &mistakes)
        filter.kinds = mistakes.collect(nil, try parameters.choices("kind"))
        return filter
    }

    /// The entities that a parameter `entity` names; nil without one.
    func entityNames(_ parameters: QueryParameters, _ mistakes: inout Mistakes) -> [String]? {
        mistakes.collect(nil) { () throws(Problem) in
            try parameters.names("entity")?.map { (name) throws(Problem) in
                do throws(Problem) {
                    return try entity(name).name
                } catch {
                    throw .parameter("entity", error.detail, error.code)
                }
            }
        }
    }
}

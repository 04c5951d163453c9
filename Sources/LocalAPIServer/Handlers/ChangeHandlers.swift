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
        let limit = try parameters.integer("limit", in: 1...1000, else: 100)
        let wait = try parameters.integer("wait", in: 0...60, else: 0)
        let filter = try changeFilter(parameters)
        if let epoch = try parameters.value("epoch") { try requireEpoch(epoch) }
        let since = try parameters.position("since") ?? store.position()
        var page = try store.changes(since: since, filter: filter, limit: limit)
        if page.events.isEmpty, wait > 0 {
            page = try await within(.seconds(wait)) { try await firstChanges(since, filter, limit) }
        }
        let document = JSONText.object([
            "epoch": .string(store.epoch), "data": .array(page.events.map(\.document)),
            "next": .integer(Int(page.next)),
        ])
        var response = Response.json(200, Array(document.bytes))
        response.headers.append(("Cache-Control", "no-store"))
        return response
    }

    /// The first page that is not empty, or an empty one when the task is cancelled or the server stops.
    private func firstChanges(_ since: Int64, _ filter: ChangeFilter, _ limit: Int) async throws -> ChangePage {
        var since = since
        while true {
            let commits = store.signal.commits
            let page = try store.changes(since: since, filter: filter, limit: limit)
            guard page.events.isEmpty, !Task.isCancelled, !store.signal.isClosed else { return page }
            since = page.next
            await store.signal.wait(after: commits)
        }
    }

    /// Refuses a position from the log of another database file.
    func requireEpoch(_ epoch: String) throws {
        guard epoch == store.epoch else {
            throw CacheError.gone("this is not the cache of epoch \(epoch.prefix(50)); read the records again")
        }
    }

    /// `entity=` and `kind=`: each takes one name, or several separated by commas.
    func changeFilter(_ parameters: QueryParameters) throws(Problem) -> ChangeFilter {
        var filter = ChangeFilter()
        if let names = try parameters.value("entity") {
            filter.entities = []
            for name in names.split(separator: ",", omittingEmptySubsequences: false) {
                filter.entities?.append(try entity(String(name)).name)
            }
        }
        if let names = try parameters.value("kind") {
            filter.kinds = []
            for name in names.split(separator: ",", omittingEmptySubsequences: false) {
                guard let kind = ChangeLogKind(rawValue: String(name)) else {
                    let known = ChangeLogKind.allCases.map(\.rawValue).joined(separator: ", ")
                    throw .parameter("kind", "there is no kind \(name.prefix(50)); use any of \(known)")
                }
                filter.kinds?.append(kind)
            }
        }
        return filter
    }
}

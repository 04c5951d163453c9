internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SQLiteStore
internal import SocketServer

/// The change log, a page at a time, now or as soon as there is something new.
extension Handlers {
    /// Without `since` from here on. `wait` is for the first change to come; with none in time the page is empty.
    func changes(_ request: Request) async throws -> Response {
        let parameters = try QueryParameters(request)
        try parameters.requireOnly(["since", "epoch", "wait", "limit", "entity", "kind"])
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

    /// The first page that is not empty; an empty one when the task is cancelled or the server stops.
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

    /// A number of another file's log must not be taken for one of ours.
    func requireEpoch(_ epoch: String) throws {
        guard epoch == store.epoch else {
            throw CacheError.gone("the cache is another than that of epoch \(epoch.prefix(50)); read the records anew")
        }
    }

    /// `entity=` and `kind=`, each one name or several with commas between.
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
                    throw .badRequest("there is no kind \(name.prefix(50)); use some of \(known)", field: "kind")
                }
                filter.kinds?.append(kind)
            }
        }
        return filter
    }
}

extension QueryParameters {
    /// A number of the change log; nil when there is none.
    func position(_ name: String) throws(Problem) -> Int64? {
        guard let text = try value(name) else { return nil }
        guard let number = Int64(text), number >= 0 else {
            throw .badRequest("expected a number of the change log, 0 or greater", field: name)
        }
        return number
    }
}

import JSONText
import LocalAPI

/// The actions shared by `queue` and `pending`.
enum QueueActions {
    static func show(
        _ filters: QueueFilters, _ table: TableOptions, _ client: LocalAPIClient, _ options: ClientOptions
    ) async throws {
        let list = try await ListPages.all(of: LocalAPIPaths.pending, query: filters.query, client)
        try options.show(list) { answer in
            let changes = answer["data"]?.elements ?? []
            guard changes.isEmpty else {
                return try table.rendered(QueueText.table(changes, sortedBy: filters.sortedColumns))
            }
            return filters.isEmpty ? "nothing is pending\n" : "no such change is pending\n"
        }
    }

    static func count(_ client: LocalAPIClient, _ options: ClientOptions) async throws {
        try options.show(await client.get(LocalAPIPaths.pendingCount).body) { StyledText(try QueueText.waiting($0)) }
    }

    /// Nil retries all failed changes.
    static func retry(_ id: String?, _ client: LocalAPIClient, _ options: ClientOptions) async throws {
        let path = id.map(LocalAPIPaths.retryPending) ?? LocalAPIPaths.retryAllPending
        let flags = options.connection.flags
        try options.show(await client.post(path).body) { StyledText(QueueText.retried(id, $0, flags: flags)) }
    }

    /// Discards the newest first, because changes that depend on another one are newer and have to go before it. A change that
    /// cannot be discarded does not stop the others; the error at the end has the status of the first one.
    static func discard(
        _ ids: [String], cascade: Bool, _ client: LocalAPIClient, _ options: ClientOptions
    ) async throws {
        if let id = ids.first, ids.count == 1 { return try await discard(id, cascade: cascade, client, options) }
        var failures: [CommandFailure] = []
        var lost: CommandFailure?
        for id in ids.sorted(by: { Int($0) ?? 0 > Int($1) ?? 0 }) {
            do {
                try await discard(id, cascade: cascade, client, options)
            } catch let failure as CommandFailure {
                lost = failure
            } catch {
                guard case LocalAPIError.problem(let problem) = error else { throw error }
                let failure = CommandFailure(.problem(problem))
                StandardStream.error.write(options.json ? "\(failure.document.text)\n" : "\(id): \(failure.message)\n")
                failures.append(failure)
            }
        }
        if let first = failures.first {
            throw CommandFailure(first.status, "\(failures.count) of \(ids.count) changes were not discarded")
        }
        if let lost { throw lost }
    }

    static func discard(
        _ id: String, cascade: Bool, _ client: LocalAPIClient, _ options: ClientOptions
    ) async throws {
        let query = cascade ? [(name: "cascade", value: "true")] : []
        _ = try await BusyChange.waiting { () throws(LocalAPIError) in
            try await client.delete(LocalAPIPaths.pendingChange(id), query: query)
        }
        if !options.json { try StandardStream.output.writeResult("discarded \(id)\n") }
    }
}

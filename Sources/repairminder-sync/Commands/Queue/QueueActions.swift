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
        try options.show(await client.post(path).body) { StyledText(QueueText.retried(id, $0)) }
    }

    static func discard(
        _ id: String, cascade: Bool, _ client: LocalAPIClient, _ options: ClientOptions
    ) async throws {
        _ = try await client.delete(LocalAPIPaths.pendingChange(id), query: cascade ? [("cascade", "true")] : [])
        if !options.json { StandardStream.output.write("discarded \(id)\n") }
    }
}

import JSONText
import LocalAPI

/// What `queue` and `pending` have in common.
enum QueueActions {
    static func show(_ client: LocalAPIClient, _ options: ClientOptions) async throws {
        try options.show(try await ListPages.all(of: LocalAPIPaths.pending, query: [], client)) { answer in
            let changes = answer["data"]?.elements ?? []
            return changes.isEmpty ? "nothing is pending\n" : ClientOptions.rendered(QueueText.table(changes))
        }
    }

    static func count(_ client: LocalAPIClient, _ options: ClientOptions) async throws {
        try options.show(await client.get(LocalAPIPaths.pendingCount).body) { "\($0["pending"]?.plain ?? "")\n" }
    }

    /// Nil retries all that failed.
    static func retry(_ id: String?, _ client: LocalAPIClient, _ options: ClientOptions) async throws {
        let path = id.map(LocalAPIPaths.retryPending) ?? LocalAPIPaths.retryAllPending
        try options.show(await client.post(path).body) { _ in
            id.map { "\($0) is tried again\n" } ?? "all failed changes are tried again\n"
        }
    }

    static func discard(
        _ id: String, cascade: Bool, _ client: LocalAPIClient, _ options: ClientOptions
    ) async throws {
        _ = try await client.delete(LocalAPIPaths.pendingChange(id), query: cascade ? [("cascade", "true")] : [])
        if !options.json { StandardStream.output.write("\(id) is discarded\n") }
    }
}

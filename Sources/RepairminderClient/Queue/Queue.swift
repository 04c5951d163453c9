/// The changes that the upstream does not have yet: `client.queue`.
public struct Queue: Sendable {
    let caller: Caller

    /// How many changes there are.
    public struct Count: Sendable, Hashable {
        /// Changes that are not sent yet.
        public let pending: Int
        /// Changes that failed permanently.
        public let failed: Int
    }

    /// How many changes there are.
    public func count() async throws(ClientError) -> Count {
        let body = try await caller.json(.get(PathText.path("pending", "count"))).body
        return Count(pending: body["pending"]?.int ?? 0, failed: body["failed"]?.int ?? 0)
    }

    /// The changes, oldest first unless sorted.
    public func list(_ query: QueueQuery = QueueQuery()) -> Pages<QueuedChange> {
        caller.pages(.get(PathText.path("pending"), query.items)) { QueuedChange(json: $0) }
    }

    /// One change; `.notFound` once it has left the queue.
    public func change(_ id: Int) async throws(ClientError) -> QueuedChange {
        try await caller.document(.get(PathText.path("pending", String(id))), as: QueuedChange.self)
    }

    /// Retries a failed or waiting change now. Returns how many changes that were.
    @discardableResult
    public func retry(_ id: Int, key: IdempotencyKey? = nil) async throws(ClientError) -> Int {
        try await retried(PathText.path("pending", String(id), "retry"), key)
    }

    /// Retries all failed changes. Returns their number.
    @discardableResult
    public func retryAll(key: IdempotencyKey? = nil) async throws(ClientError) -> Int {
        try await retried(PathText.path("pending", "retry"), key)
    }

    /// Replaces fields of a change, takes others out, and tries it again.
    @discardableResult
    public func correct(
        _ id: Int, _ fields: JSONObject = [:], removing names: [String] = [], key: IdempotencyKey? = nil
    ) async throws(ClientError) -> QueuedChange {
        let call = Call.write(
            "PATCH", PathText.path("pending", String(id)), QueryItem.list("remove", names), body: .object(fields),
            key: key)
        return try await caller.document(call, as: QueuedChange.self)
    }

    /// Discards a change, and brings back the upstream's version of the record.
    ///
    /// Changes that depend on it are discarded with `cascade`; without it the problem is `.hasDependents`.
    public func discard(_ id: Int, cascade: Bool = false, key: IdempotencyKey? = nil) async throws(ClientError) {
        let query = cascade ? [QueryItem("cascade", "true")] : []
        _ = try await caller.json(.write("DELETE", PathText.path("pending", String(id)), query, key: key))
    }

    private func retried(_ path: String, _ key: IdempotencyKey?) async throws(ClientError) -> Int {
        try await caller.json(.write("POST", path, key: key)).body["retried"]?.int ?? 0
    }
}

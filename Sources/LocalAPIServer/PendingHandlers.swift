internal import CacheStore
internal import JSONText
internal import SocketServer
internal import SyncEngine

/// The queue: how much, what, and what a person can do about it.
extension LocalAPIServer {
    /// `{"pending": 3, "failed": 1}`, or the one number 3 for callers that accept text.
    func pendingCount(_ request: Request) throws -> Response {
        let count = try store.pendingCount()
        if request.headers[all: "Accept"].contains(where: { $0.hasPrefix("text/plain") }) {
            return .text("\(count.pending)\n")
        }
        let document = JSONText.object(["pending": .integer(count.pending), "failed": .integer(count.failed)])
        return .json(200, Array(document.bytes))
    }

    func pending(_ request: Request) throws -> Response {
        let parameters = try QueryParameters(request)
        try parameters.requireOnly(["limit", "cursor"])
        let after = try parameters.integer("cursor", in: 0...Int.max, else: 0)
        let limit = try parameters.integer("limit", in: 1...1000, else: 50)
        let (changes, next) = try store.pending(after: Int64(after), limit: limit)
        let document = JSONText.object([
            "data": .array(changes), "next": .string(next.map { String($0) }),
        ])
        return .json(200, Array(document.bytes))
    }

    func pendingChange(_ id: String) throws -> Response {
        .json(200, Array(try store.pendingChange(number(id)).bytes))
    }

    /// Nil retries all failed ones.
    func retry(_ id: String?) async throws -> Response {
        let count = try await store.retry(id.map(number), at: now())
        await engine.noteRetry()
        return .json(200, Array(JSONText.object(["retried": .integer(count)]).bytes))
    }

    func discard(_ id: String, _ request: Request) async throws -> Response {
        let parameters = try QueryParameters(request)
        try parameters.requireOnly(["cascade"])
        try await store.discard(number(id), cascade: parameters.flag("cascade"), at: now())
        // What waited for it may be ready now.
        engine.noteLocalWrite()
        return Response(status: 204)
    }

    private func number(_ id: String) throws(Problem) -> Int64 {
        guard let number = Int64(id) else { throw .notFound("no change \(id.prefix(50)) is pending") }
        return number
    }
}

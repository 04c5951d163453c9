internal import CacheStore
internal import JSONText
internal import SocketServer
internal import SyncEngine

/// The queue: its count, its changes, and what a person can do with them.
extension Handlers {
    /// `{"pending": 3, "failed": 1}`, or just `3` for callers that accept text.
    func pendingCount(_ request: Request) throws -> Response {
        let count = try store.pendingCount()
        if request.headers[all: "Accept"].contains(where: { $0.hasPrefix("text/plain") }) {
            return .text("\(count.pending)\n")
        }
        let document = JSONText.object(["pending": .integer(count.pending), "failed": .integer(count.failed)])
        return .json(200, Array(document.bytes))
    }

    func pending(_ request: Request) throws -> Response {
        let (changes, next) = try store.pending(QueryParameters(request).pendingQuery())
        return NextLink.page(changes, next: next, of: request)
    }

    func pendingChange(_ id: String) throws -> Response {
        .json(200, Array(try store.pendingChange(number(id)).bytes))
    }

    /// Nil retries all failed changes.
    func retry(_ id: String?, _ request: Request) async throws -> Response {
        let id = try id.map(number)
        let response = try await write(request) { transaction in
            .retried(try transaction.retry(id))
        }
        await engine.noteRetry()
        return response
    }

    /// Body: the fields to set; `remove=notes,total` removes fields from the change.
    func correct(_ id: String, _ request: Request) async throws -> Response {
        let parameters = try QueryParameters(request)
        let removed = try parameters.value("remove")?.split(separator: ",").map(String.init) ?? []
        let id = try number(id)
        guard !PatchFormat.isMergePatch(request) else {
            throw Problem(
                .unsupportedMediaType, "a change in the queue takes its fields as application/json, each as a whole",
                headers: [("Accept-Patch", PatchFormat.json)])
        }
        let fields = try object(request)
        let response = try await write(request) { transaction in
            try transaction.correct(id, setting: fields, removing: removed)
            return .document(try transaction.pendingChange(id))
        }
        await engine.noteRetry()
        return response
    }

    func discard(_ id: String, _ request: Request) async throws -> Response {
        let parameters = try QueryParameters(request)
        let (id, cascade) = (try number(id), try parameters.flag("cascade"))
        let response = try await write(request) { transaction in
            try transaction.discard(id, cascade: cascade)
            return .done
        }
        // Changes that waited for it may be ready now.
        engine.noteLocalWrite()
        return response
    }

    private func number(_ id: String) throws(Problem) -> Int64 {
        guard let number = Int64(id) else { throw .notFound("no change \(id.prefix(50)) is pending") }
        return number
    }
}

internal import CacheStore
internal import JSONText
internal import SQLiteStore
internal import SocketServer
internal import SyncEngine

/// The queue: its count, its changes, and what a person can do with them.
extension Handlers {
    /// `{"pending": 3, "failed": 1}`, or just `3` for callers that accept text.
    func pendingCount(_ request: Request) throws -> Response {
        let count = try store.pendingCount()
        if AcceptedType.best(of: [PatchFormat.json, "text/plain"], for: request) == "text/plain" {
            return .text("\(count.pending)\n")
        }
        var document = JSONWriter(capacity: 48)
        document.object { document in
            document.member("pending", count.pending)
            document.member("failed", count.failed)
        }
        return .json(200, document.bytes)
    }

    func pending(_ request: Request) async throws -> Response {
        var mistakes = mistakes
        let query = try QueryParameters(request).pendingQuery(&mistakes)
        guard mistakes.isEmpty else {
            mistakes.add(try store.mistakes(in: query).map { .parameter($0.field, $0.message) })
            throw mistakes.problem
        }
        let (changes, next) = try await store.away(for: ReadCaller(request)) { [query] store in try store.pending(query)
        }
        return NextLink.page(changes, next: next, of: request)
    }

    func pendingChange(_ id: String) throws -> Response {
        .document(try store.pendingChange(number(id)))
    }

    /// Nil retries all failed changes.
    func retry(_ id: String?, _ request: Request) async throws -> Response {
        let response = try await write(request, mistakes) { transaction in
            .retried(try transaction.retry(id.map(number)))
        }
        await engine.noteRetry()
        return response
    }

    /// Body: the fields to set; `remove=notes,total` removes fields from the change.
    func correct(_ id: String, _ request: Request) async throws -> Response {
        guard !PatchFormat.isMergePatch(request) else {
            throw Problem(
                .unsupportedMediaType, "a change in the queue takes its fields as application/json, each as a whole",
                headers: [("Accept-Patch", PatchFormat.json)])
        }
        var mistakes = mistakes
        let parameters = try QueryParameters(request)
        let removed = mistakes.collect([], try parameters.names("remove") ?? [])
        let fields = try mistakes.object(request)
        let response = try await write(request, mistakes) { transaction in
            let id = try number(id)
            try transaction.correct(id, setting: fields, removing: removed)
            return .document(try transaction.pendingChange(id))
        }
        await engine.noteRetry()
        return response
    }

    func discard(_ id: String, _ request: Request) async throws -> Response {
        let parameters = try QueryParameters(request)
        var mistakes = mistakes
        let cascade = mistakes.collect(false, try parameters.flag("cascade"))
        let response = try await write(request, mistakes) { transaction in
            try transaction.discard(number(id), cascade: cascade)
            return .done
        }
        // Changes that waited for it may be ready now.
        engine.noteLocalWrite()
        return response
    }

    private func number(_ id: String) throws(Problem) -> Int64 { try .number(id, of: "change") }
}

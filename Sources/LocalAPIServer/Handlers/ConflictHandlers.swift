internal import CacheStore
internal import JSONText
internal import SocketServer
internal import SyncEngine

/// Conflicts: those that a policy resolved, and those that wait for a person.
extension Handlers {
    /// Newest first; `open=true` lists only unresolved ones.
    func conflicts(_ request: Request) async throws -> Response {
        let parameters = try QueryParameters(request)
        var mistakes = mistakes
        let before = mistakes.collect(Int.max, try parameters.integer("cursor", in: 0...Int.max, else: Int.max))
        let limit = parameters.pageSize(50, &mistakes)
        let open = mistakes.collect(false, try parameters.flag("open"))
        try mistakes.throwAny()
        let (conflicts, next) = try await store.away(for: ReadCaller(request)) {
            try $0.conflicts(before: Int64(before), open: open, limit: limit)
        }
        return NextLink.page(conflicts, next: next.map { String($0) }, of: request)
    }

    func conflict(_ id: String) throws -> Response {
        .document(try store.conflict(conflictNumber(id)))
    }

    /// Body: `{"winner": "local" | "server"}`.
    func resolve(_ id: String, _ request: Request) async throws -> Response {
        var mistakes = mistakes
        let body = try mistakes.object(request)
        mistakes.requireOnly(["winner"], in: body)
        let winner = mistakes.member(
            "winner", of: body, "expected {\"winner\": \"local\"} or {\"winner\": \"server\"}"
        ) { $0.string.flatMap(Conflict.Side.init) }
        guard let winner else { throw mistakes.problem }
        return try await decide(id, request, mistakes) { try $0.resolve($1, for: winner) }
    }

    func undo(_ id: String, _ request: Request) async throws -> Response {
        try await decide(id, request, mistakes) { try $0.undo($1) }
    }

    private func decide(
        _ id: String, _ request: Request, _ mistakes: Mistakes,
        _ decision: @escaping @Sendable (LocalTransaction, Int64) throws -> Void
    ) async throws -> Response {
        let response = try await write(request, mistakes) { transaction in
            let id = try conflictNumber(id)
            try decision(transaction, id)
            return .document(try transaction.conflict(id))
        }
        engine.noteLocalWrite()
        return response
    }

    private func conflictNumber(_ id: String) throws(Problem) -> Int64 { try .number(id, of: "conflict") }
}

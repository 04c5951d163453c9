internal import CacheStore
internal import JSONText
internal import SocketServer
internal import SyncEngine

/// Conflicts: those that a policy resolved, and those that wait for a person.
extension Handlers {
    /// Newest first; `open=true` lists only unresolved ones.
    func conflicts(_ request: Request) throws -> Response {
        let parameters = try QueryParameters(request)
        let before = try parameters.integer("cursor", in: 0...Int.max, else: Int.max)
        let limit = try parameters.integer("limit", in: 1...1000, else: 50)
        let (conflicts, next) = try store.conflicts(
            before: Int64(before), open: parameters.flag("open"), limit: limit)
        return NextLink.page(conflicts, next: next.map { String($0) }, of: request)
    }

    func conflict(_ id: String) throws -> Response {
        .json(200, Array(try store.conflict(conflictNumber(id)).bytes))
    }

    /// Body: `{"winner": "local" | "server"}`.
    func resolve(_ id: String, _ request: Request) async throws -> Response {
        let body = try object(request)
        guard let winner = body["winner"]?.string.flatMap(Conflict.Side.init), body.members.count == 1 else {
            throw Problem.body("winner", "expected {\"winner\": \"local\"} or {\"winner\": \"server\"}")
        }
        return try await decide(id, request) { try $0.resolve($1, for: winner) }
    }

    func undo(_ id: String, _ request: Request) async throws -> Response {
        try await decide(id, request) { try $0.undo($1) }
    }

    private func decide(
        _ id: String, _ request: Request, _ decision: @escaping @Sendable (LocalTransaction, Int64) throws -> Void
    ) async throws -> Response {
        let id = try conflictNumber(id)
        let response = try await write(request) { transaction in
            try decision(transaction, id)
            return .document(try transaction.conflict(id))
        }
        engine.noteLocalWrite()
        return response
    }

    private func conflictNumber(_ id: String) throws(Problem) -> Int64 {
        guard let number = Int64(id) else { throw .notFound("there is no conflict \(id.prefix(50))") }
        return number
    }
}

internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SQLiteStore
internal import SocketServer

/// Hooks: how far each is, and what a person can do with one.
extension Handlers {
    private static let shownParked = 100

    func hooks() throws -> Response {
        let hooks = try store.hookStates().map { JSONText.object(members: hookMembers($0)) }
        return .document(.object(["data": .array(hooks)]))
    }

    /// With its oldest parked deliveries.
    func hook(_ name: String) throws -> Response {
        guard let state = try store.hookState(name) else {
            throw Problem.notFound("there is no hook \(name.prefix(50))")
        }
        let parked = try store.parkedDeliveries(name, limit: Self.shownParked)
        return .document(document(state, parked))
    }

    func pauseHook(_ name: String, _ isPaused: Bool, _ request: Request) async throws -> Response {
        try await change(name, request, mistakes) { try $0.pauseHook(name, isPaused) }
    }

    func skipHook(_ name: String, _ request: Request) async throws -> Response {
        try await change(name, request, mistakes) { try $0.skipHook(name) }
    }

    /// Body, optional: `{"id": 3}`, a parked delivery.
    func retryHook(_ name: String, _ request: Request) async throws -> Response {
        try await decide(name, request) { try $0.retryHook($1, $2) }
    }

    func discardParked(_ name: String, _ request: Request) async throws -> Response {
        try await decide(name, request) { try $0.discardParked($1, $2) }
    }

    private func decide(
        _ name: String, _ request: Request,
        _ decision: @escaping @Sendable (LocalTransaction, String, Int64?) throws -> Void
    ) async throws -> Response {
        var mistakes = mistakes
        var parked: Int64?
        if !request.body.isEmpty {
            let body = try mistakes.object(request)
            mistakes.requireOnly(["id"], in: body)
            let number = mistakes.member("id", of: body, "expected the number of a parked delivery", \.integer)
            guard let number else { throw mistakes.problem }
            parked = Int64(number)
        }
        return try await change(name, request, mistakes) { [parked] in try decision($0, name, parked) }
    }

    /// Answers with the hook as it is afterwards.
    private func change(
        _ name: String, _ request: Request, _ mistakes: Mistakes,
        _ change: @escaping @Sendable (LocalTransaction) throws -> Void
    ) async throws -> Response {
        try await write(request, mistakes) { transaction in
            try change(transaction)
            let parked = try transaction.parkedDeliveries(name, limit: Self.shownParked)
            return .document(document(try transaction.hookState(name), parked))
        }
    }

    private func document(_ state: HookState, _ parked: [ParkedDelivery]) -> JSONText {
        var members = hookMembers(state)
        members.append(("parked_deliveries", .array(parked.map(\.document))))
        return .object(members: members)
    }

    private func hookMembers(_ state: HookState) -> [(key: String, value: JSONText)] {
        let rule = store.hooks.first { $0.name == state.name }
        let word = state.isPaused ? "paused" : state.attempts > 0 ? "retrying" : "waiting"
        return [
            ("name", .string(state.name)), ("on", .array((rule?.events ?? []).map { .string($0.rawValue) })),
            ("of", .string(rule?.entity)), ("state", .string(word)), ("position", .integer(Int(state.position))),
            ("attempts", .integer(state.attempts)), ("next_attempt_at", .string(state.nextAt?.description)),
            ("error", .string(state.error)), ("delivered", .integer(state.delivered)),
            ("delivered_at", .string(state.deliveredAt?.description)), ("parked", .integer(state.parked)),
        ]
    }
}

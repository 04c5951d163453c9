extension LocalAPIServer {
    /// Runs `body`, and cancels it when `limit` has passed; it then returns what it has.
    func within<Result: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body() }
            group.addTask { [clock] in
                try? await clock.sleep(for: limit)
                return nil
            }
            var result: Result?
            while let ended = try await group.next() {
                group.cancelAll()
                result = result ?? ended
            }
            guard let result else { throw CancellationError() }
            return result
        }
    }
}

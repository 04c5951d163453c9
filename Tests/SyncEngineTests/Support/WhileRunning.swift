/// Runs `work`, which ends only when it is cancelled, while `body` does its own.
func whileRunning(
    _ work: @escaping @Sendable () async throws -> Void, _ body: () async throws -> Void
) async throws {
    let task = Task { try await work() }
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    task.cancel()
    _ = await task.result
    try result.get()
}

import LocalAPI

/// A call about a queued change that may be on its way to the upstream.
enum BusyChange {
    /// After this many tries, a second apart, the caller gets the answer that the change is being sent.
    static let tries = 30

    /// Repeats `call` while the daemon answers that the change is being sent.
    static func waiting<Answer>(
        pause: () async -> Void = { try? await Task.sleep(for: .seconds(1)) },
        _ call: () async throws(LocalAPIError) -> Answer
    ) async throws(LocalAPIError) -> Answer {
        for _ in 1..<tries {
            do throws(LocalAPIError) {
                return try await call()
            } catch {
                guard case .problem(let problem) = error, problem.code == "busy" else { throw error }
                await pause()
            }
        }
        return try await call()
    }
}

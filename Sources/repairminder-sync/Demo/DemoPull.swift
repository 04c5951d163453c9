import JSONText
import LocalAPI

/// Pulls everything for the demo. While someone has paused syncing, as from another terminal, it waits until that goes on.
struct DemoPull {
    let client: LocalAPIClient
    /// The local API's address, for the note.
    let api: String
    let clock: any Clock<Duration>

    /// Calls `note` with a line of text when it begins to wait.
    func run(_ note: (String) -> Void) async throws {
        var isNoted = false
        while let error = await attempt() {
            guard try await isPaused(after: error) else { throw error }
            if !isNoted { note("Syncing is paused. To go on: repairminder-sync resume --address \(api)\n") }
            isNoted = true
            try await clock.sleep(for: .seconds(1))
        }
    }

    /// Why it failed; nil for success.
    private func attempt() async -> (any Error)? {
        do {
            _ = try await ProgressLine.showing(ProgressLine.sync(client)) {
                try await client.post(LocalAPIPaths.sync, query: [("wait", "true")])
            }
            return nil
        } catch {
            return error
        }
    }

    /// A sync that was under way when it was paused fails with another problem.
    private func isPaused(after error: any Error) async throws -> Bool {
        guard case LocalAPIError.problem(let problem) = error else { return false }
        if problem.code == "paused" { return true }
        return try await client.get(LocalAPIPaths.status).body?["state"]?.string == "paused"
    }
}

import CacheStore
import SQLiteStore

extension CacheStore {
    /// Waits for commits until the condition holds.
    func until(_ isSo: () throws -> Bool) async throws {
        while true {
            let commits = signal.commits
            if try isSo() { return }
            await signal.wait(after: commits)
        }
    }
}

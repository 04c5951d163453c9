internal import Synchronization

/// Which entities were loaded at the last commit: asking the database takes as long as reading ten records, and nearly
/// all lists are read when nothing has changed.
final class LoadedEntities: Sendable {
    private struct State {
        var commits: UInt64 = 0
        var loaded: Set<String> = []
    }

    private let state = Mutex(State())

    /// Whether the entity is loaded, which `ask` finds out unless it is known for this number of commits. Take that number
    /// before the call (`ChangeSignal.commits`).
    func has(_ entity: String, at commits: UInt64, _ ask: () throws -> Bool) rethrows -> Bool {
        let isKnown = state.withLock { $0.commits == commits && $0.loaded.contains(entity) }
        if isKnown { return true }
        guard try ask() else { return false }
        state.withLock { state in
            if state.commits != commits { state = State(commits: commits) }
            state.loaded.insert(entity)
        }
        return true
    }
}

import SyncEngine

/// The status line that the service manager shows: `idle, 3 pending, last sync 10:42`.
struct StatusLine {
    var status: SyncStatus
    var pending: Int
    var failed: Int
    var conflicts: Int
    /// What is still missing before anything can be synced.
    var missing: String?
    /// Why a newer configuration was rejected.
    var rejection: String?

    func text(_ times: TimeText) -> String {
        var parts: [String] = []
        if let rejection { parts.append("new configuration rejected (\(rejection))") }
        parts.append(state)
        parts.append("\(pending) pending")
        if failed > 0 { parts.append("\(failed) failed") }
        if conflicts > 0 { parts.append("\(conflicts.counted("conflict", "conflicts")) to resolve") }
        parts.append(status.lastSyncAt.map { "last sync \(times.moment($0))" } ?? "no sync since the start")
        return parts.joined(separator: ", ")
    }

    private var state: String {
        if let missing { return "not set up (\(missing))" }
        switch status.state {
        case .idle, .completed: return "idle"
        case .paused: return "paused"
        case .syncing:
            let percent = Int((status.progress * 100).rounded(.down))
            return status.phase.map { "syncing (\($0), \(percent) %)" } ?? "syncing"
        case .offline, .error: return status.state.rawValue + (status.error.map { " (\($0))" } ?? "")
        }
    }
}

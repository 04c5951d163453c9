import EntitySchema
import Foundation
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

    func text(at now: Timestamp, in zone: TimeZone) -> String {
        var parts: [String] = []
        if let rejection { parts.append("new configuration rejected (\(rejection))") }
        parts.append(state)
        parts.append("\(pending) pending")
        if failed > 0 { parts.append("\(failed) failed") }
        if conflicts > 0 { parts.append("\(conflicts) \(conflicts == 1 ? "conflict" : "conflicts") to resolve") }
        parts.append(status.lastSyncAt.map { "last sync \(time($0, now, zone))" } ?? "no sync since the start")
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

    /// The time, with the date unless it is today.
    private func time(_ time: Timestamp, _ now: Timestamp, _ zone: TimeZone) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let date = Date(timeIntervalSince1970: Double(time.milliseconds) / 1000)
        let today = Date(timeIntervalSince1970: Double(now.milliseconds) / 1000)
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
        let clock = Self.digits(parts.hour) + ":" + Self.digits(parts.minute)
        guard !calendar.isDate(date, inSameDayAs: today) else { return clock }
        return "\(parts.year ?? 0)-\(Self.digits(parts.month))-\(Self.digits(parts.day)) \(clock)"
    }

    private static func digits(_ number: Int?) -> String {
        let text = "\(number ?? 0)"
        return text.count < 2 ? "0" + text : text
    }
}

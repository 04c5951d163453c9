import EntitySchema
import Glibc

/// Shows times to people: how long ago they are, or in the machine's time zone.
struct TimeText: Sendable {
    /// `brief` says `3 min ago` of the last day, and the date and time before that; `whole` says both.
    enum Style: Sendable {
        case brief, whole
        /// The time of day, to the second.
        case clock
    }

    var now: Timestamp
    /// Seconds east of UTC at a time.
    var offset: @Sendable (Timestamp) -> Int = Self.localOffset

    /// Nil for text that is no time in ISO 8601.
    func text(of text: String, _ style: Style) -> String? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 17, bytes[10] == UInt8(ascii: "T"), Self.hasZone(text),
            let time = Timestamp(iso8601: text)
        else { return nil }
        switch style {
        case .brief: return distance(to: time) ?? local(time, seconds: false)
        case .clock: return String(local(time, seconds: true).dropFirst(11))
        case .whole: return local(time, seconds: true) + (distance(to: time).map { " (\($0))" } ?? "")
        }
    }

    private static func hasZone(_ text: String) -> Bool {
        text.hasSuffix("Z") || text.dropFirst(16).contains { $0 == "+" || $0 == "-" }
    }

    /// `just now`, `3 min ago`, `in 2 h`; nil beyond a day.
    private func distance(to time: Timestamp) -> String? {
        let seconds = now.since(time).components.seconds
        let size = abs(seconds)
        let amount: String
        switch size {
        case ..<5: return "just now"
        case ..<60: amount = "\(size) s"
        case ..<3600: amount = "\(size / 60) min"
        case ..<86_400: amount = "\(size / 3600) h"
        default: return nil
        }
        return seconds < 0 ? "in \(amount)" : "\(amount) ago"
    }

    /// `10:42`, with the date unless it is today.
    func moment(_ time: Timestamp) -> String {
        let text = local(time, seconds: false)
        let isToday = text.prefix(10) == local(now, seconds: false).prefix(10)
        return isToday ? String(text.dropFirst(11)) : text
    }

    /// `2026-11-21 10:42`.
    private func local(_ time: Timestamp, seconds: Bool) -> String {
        let text = "\(time + .seconds(offset(time)))"
        return String(text.prefix(seconds ? 19 : 16).map { $0 == "T" ? " " : $0 })
    }

    @Sendable private static func localOffset(_ time: Timestamp) -> Int {
        var seconds = time_t(time.milliseconds / 1000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return 0 }
        return parts.tm_gmtoff
    }
}

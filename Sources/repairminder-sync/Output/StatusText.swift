import JSONText

/// Formats the daemon's status as text.
enum StatusText {
    /// One line per fact; empty facts are omitted. Without `times` it is for programs: a tab separates name and value.
    static func summary(_ status: JSONText, _ times: TimeText? = nil) -> String {
        let upstream = status["upstream"]
        let reachable = upstream?["reachable"]?.boolean.map { $0 ? "reachable" : "unreachable" }
        let facts: [(String, String)] = [
            ("state", state(status)), ("last sync", status.shown("last_sync_at")),
            ("next sync", status.shown("next_sync_at")), ("upstream", reachable ?? ""),
            ("retry after", upstream?["retry_after"]?.plain ?? ""), ("error", status.shown("error")),
            ("budget", budget(upstream?["budget"])), ("missing", status.shown("missing")),
            ("warning", (status["warnings"]?.elements ?? []).map(\.plain).joined(separator: "; ")),
            ("pending", status.shown("pending")), ("failed", status.shown("failed")),
            ("conflicts", status.shown("conflicts")),
            ("standby", standby(status["standby"])),
            ("parked", parked(number(status["parked_deliveries"]), isForPeople: times != nil)),
            ("drift", number(status["drift"])),
            ("set aside", number(status["set_aside"])), ("rescue", status["rescue"]?["summary"]?.plain ?? ""),
            ("version", status.shown("version")),
        ]
        // A line of its own would look like another fact.
        let shown = facts.map { ($0.0, TerminalText.line($0.1)) }.filter { !$0.1.isEmpty }
        return shown.map { name, value -> String in
            guard let times else { return "\(name)\t\(value)\n" }
            return name.padding(to: 13) + (times.text(of: value, .brief) ?? value) + "\n"
        }
        .joined()
    }

    static func entities(_ status: JSONText) -> Table {
        let columns = ["rows", "state", "last_synced_at", "error"]
        let rows = (status["entities"]?.members ?? []).map { name, entity in
            [name, kept(entity)] + columns.dropFirst().map(entity.shown)
        }
        return Table(header: ["entity"] + columns, rows: rows, kept: ["error"], wrapped: ["error"])
    }

    /// A row for each source of signals; nil if there are none.
    static func signals(_ status: JSONText, _ times: TimeText? = nil) -> Table? {
        let sources = status["signals"]?.elements ?? []
        guard !sources.isEmpty else { return nil }
        let rows = sources.map { source in
            [source.shown("kind"), source.shown("path"), heard(source, times), source.shown("error")]
        }
        return Table(
            header: ["signals", "path", "state", "error"], rows: rows, kept: ["state", "error"],
            wrapped: ["state", "error"])
    }

    /// `connected, last signal 3 min ago`. Nothing says whether a webhook is connected.
    private static func heard(_ source: JSONText, _ times: TimeText?) -> String {
        let connection = source["connected"]?.boolean.map { $0 ? "connected" : "disconnected" }
        let at = source.shown("last_signal_at")
        let last = times?.text(of: at, .brief) ?? at
        let signal = last.isEmpty ? (connection == nil ? "no signal yet" : nil) : "last signal \(last)"
        return [connection, signal].compactMap(\.self).joined(separator: ", ")
    }

    /// `40`, or `40 of 1000` for an entity that keeps only some.
    private static func kept(_ entity: JSONText) -> String {
        let rows = entity.shown("rows")
        return entity["total"]?.integer.map { "\(rows) of \($0)" } ?? rows
    }

    /// `87 of 100 requests left`, and how many wait.
    private static func budget(_ value: JSONText?) -> String {
        guard let remaining = value?["remaining"]?.integer else { return "" }
        let limit = value?["requests"]?.integer.map { " of \($0)" } ?? ""
        let waiting = value?["waiting"]?.integer ?? 0
        return "\(remaining)\(limit) requests left\(waiting > 0 ? ", \(waiting) waiting" : "")"
    }

    /// Whether this daemon sends changes, or who does; empty for one that stands alone.
    private static func standby(_ value: JSONText?) -> String {
        guard let value, value.kind == .object else { return "" }
        let error = value["error"]?.string.map { " (\($0))" } ?? ""
        if value["holds_lease"]?.boolean == true { return "holds the lease\(error)" }
        return (value["holder"]?.string.map { "\($0) holds the lease" } ?? "does not hold the lease") + error
    }

    /// How many deliveries of hooks are parked; people also read how to see them.
    private static func parked(_ number: String, isForPeople: Bool) -> String {
        number.isEmpty || !isForPeople ? number : "\(number) of hooks; repairminder-sync hooks shows which"
    }

    /// Empty for 0.
    private static func number(_ value: JSONText?) -> String {
        value.flatMap { $0.integer == 0 ? nil : $0.plain } ?? ""
    }

    /// `syncing (pull orders)`.
    static func state(_ status: JSONText) -> String {
        let phase = status.shown("phase")
        return (status["state"]?.plain ?? "unknown") + (phase.isEmpty ? "" : " (\(phase))")
    }
}

import JSONText

/// Formats queued changes as text.
enum QueueText {
    static func table(_ changes: [JSONText], sortedBy sorted: Set<String> = []) -> Table {
        let columns = ["id", "state", "operation", "entity", "record_id", "retry_count", "next_attempt_at"]
        return Table(
            header: columns.map { $0 == "retry_count" ? "tries" : $0 } + ["fields", "error"],
            rows: changes.map { change in
                let fields = change["fields"]?.elements.map(\.plain) ?? []
                return columns.map(change.shown)
                    + [fields.joined(separator: ","), change["error"]?["message"]?.plain ?? ""]
            }, kept: sorted.union(["state", "record_id", "error"]), wrapped: ["error"])
    }

    /// How many changes wait. Throws if the answer does not say it: a script must not take a line without a number for "none".
    static func waiting(_ answer: JSONText) throws(CommandFailure) -> String {
        guard let pending = answer["pending"], pending.kind == .number, let count = pending.wholeNumber else {
            throw CommandFailure(
                .internalError, "the daemon did not say how many changes wait; is it the same version?")
        }
        return "\(count)\n"
    }

    /// What a retry of one change, or of all that failed, has done. `flags` lead to the same daemon.
    static func retried(_ id: String?, _ answer: JSONText, flags: String = "") -> String {
        guard answer["retried"]?.integer == 0 else {
            return id.map { "retrying \($0)\n" } ?? "retrying all failed changes\n"
        }
        guard let id else { return "nothing to retry: no change has failed\n" }
        return "nothing to retry: \(id) has not failed, and no next attempt of it is planned; "
            + "see repairminder-sync queue \(id)\(flags)\n"
    }

    /// One line per fact, then the request as it will be sent; empty facts are omitted.
    static func change(_ change: JSONText, _ times: TimeText? = nil) -> String {
        let error = change["error"]
        let names = [
            "id", "state", "operation", "entity", "record_id", "blocked_by", "conflict", "retry_count", "created_at",
            "last_attempt_at", "next_attempt_at",
        ]
        var facts = names.map { ($0.replacing("_", with: " "), change.shown($0)) }
        facts.append(("error", [error?["class"], error?["message"]].compactMap { $0?.plain }.joined(separator: ": ")))
        let lines = facts.filter { !$0.1.isEmpty }.map { name, value in
            name.padding(to: 17) + TerminalText.line(times?.text(of: value, .whole) ?? value)
        }
        return (lines + request(of: change)).joined(separator: "\n") + "\n"
    }

    /// Without a request the values of the change, which the person who decides about it needs to see.
    private static func request(of change: JSONText) -> [String] {
        guard let request = change["request"], request.kind == .object else {
            let values = change["body"].flatMap { $0.kind == .null ? nil : $0.text }
            return ["", "the schema defines no request for this change"]
                + (values.map { ["", "    " + TerminalText.line($0)] } ?? [])
        }
        let head = "\(request.shown("method")) \(request.shown("path"))"
        let fields = (request["headers"]?.members ?? []).map { "\($0.key): \($0.value.plain)" }
        let body = request["body"].flatMap { $0.kind == .null ? nil : $0.text }
        return [""]
            + ([head] + fields + (body.map { ["", $0] } ?? [])).map { line in
                line.isEmpty ? "" : "    " + TerminalText.line(line)
            }
    }
}

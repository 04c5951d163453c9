import JSONText

/// Formats entries of the change log as lines.
enum EventText {
    /// The time, what happened, to which record, and its fields: aligned for people, with tabs for programs.
    static func line(_ event: JSONText, _ presentation: Presentation) -> StyledText {
        let at = event.shown("at")
        let kind = event.shown("kind")
        let record = [event["entity"], event["id"]].compactMap { $0?.plain }.filter { !$0.isEmpty }
        let fields = event["fields"]?.elements.map(\.plain).joined(separator: ", ") ?? ""
        guard presentation.width != nil else {
            let cells = [at, kind, event.shown("entity"), event.shown("id"), fields]
            return StyledText(cells.map(TerminalText.line).joined(separator: "\t") + "\n")
        }
        let time = presentation.times?.text(of: at, .clock) ?? at
        let padding = String(repeating: " ", count: max(13 - kind.count, 1))
        return StyledText("\(time)  ") + StyledText(kind, meaning(of: kind))
            + StyledText(
                TerminalText.line(
                    padding + record.joined(separator: " ") + (fields.isEmpty ? "" : "  \(fields)")) + "\n")
    }

    private static func meaning(of kind: String) -> StyledText.Meaning? {
        switch kind {
        case "acknowledged": .good
        case "queued", "uploading": .waiting
        case "failed", "conflict": .bad
        default: nil
        }
    }
}
